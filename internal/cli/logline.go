package cli

import (
	"encoding/json"
	"path/filepath"

	"evener/internal/id"
	"evener/internal/store"
)

// logLine is a line of a tree as a log shows it: one of another journal than the
// session's own begins with the place of that journal.
func logLine(home store.Home, own id.Session, l store.Line) []byte {
	if l.Session == own {
		return append(l.Line[:len(l.Line):len(l.Line)], '\n')
	}
	at, err := filepath.Rel(home.Sessions, l.Path)
	if err != nil {
		at = l.Path
	}
	place, _ := json.Marshal(at) // a string always is JSON
	return append(append(append([]byte(`{"journal":`), place...), ','), append(l.Line[1:len(l.Line):len(l.Line)], '\n')...)
}
