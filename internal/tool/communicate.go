package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed communicate.md
var communicateText string

var communicate = define[session.CommunicateCall]("communicate", communicateText, nil)
