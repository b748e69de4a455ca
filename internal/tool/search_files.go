package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed search_files.md
var searchFilesText string

var searchFiles = define[session.SearchFilesCall]("search_files", searchFilesText, nil)
