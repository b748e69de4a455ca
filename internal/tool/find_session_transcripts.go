package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed find_session_transcripts.md
var findSessionTranscriptsText string

var findSessionTranscripts = define[session.FindCall]("find_session_transcripts", findSessionTranscriptsText, nil)
