package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed read_file.md
var readFileText string

var readFile = define[session.ReadFileCall]("read_file", readFileText, nil)
