package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed delegate.md
var delegateText string

var delegate = define[session.DelegateCall]("delegate", delegateText, nil)
