package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed list_files.md
var listFilesText string

var listFiles = define[session.ListFilesCall]("list_files", listFilesText, nil)
