package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed read_transcript.md
var readTranscriptText string

var readTranscript = define[session.ReadTranscriptCall]("read_transcript", readTranscriptText, nil)
