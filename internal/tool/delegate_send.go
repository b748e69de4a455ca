package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed delegate_send.md
var delegateSendText string

var delegateSend = define[session.DelegateSendCall]("delegate_send", delegateSendText, nil)
