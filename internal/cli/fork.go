package cli

import (
	"fmt"
	"time"

	"evener/internal/about"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/store"
)

// fork begins a new session with the conversation of another, which is only read.
func (e *env) fork(o *runOptions, home store.Home, from id.Session, boot string) (*store.Tree, error) {
	s := id.MintSession(time.Now(), entropy())
	t, c, err := store.Fork(home, session.Created{Session: s, Root: s, Dir: e.dir}, store.Copy{From: from, How: session.ResumeWith, Step: 1}, about.Version, boot)
	if err != nil {
		return nil, err
	}
	if !o.verbose { // with it, the first event says so
		left := ""
		if c.LeftOut > 0 {
			left = fmt.Sprintf("; turn %d is open there and left out", c.LeftOut)
		}
		fmt.Fprintf(e.err, "evener: session %s begins with the conversation of session %s up to turn %d%s\n", s, from, c.Divergence-1, left)
	}
	return t, nil
}
