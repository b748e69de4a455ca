package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed write_file.md
var writeFileText string

var writeFile = define[session.WriteFileCall]("write_file", writeFileText, nil)
