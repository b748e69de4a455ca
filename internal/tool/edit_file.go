package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed edit_file.md
var editFileText string

var editFile = define[session.EditFileCall]("edit_file", editFileText, nil)
