package session

import (
	"cmp"
	"strings"
	"time"

	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/transcript"
)

// Find says which sessions are looked for. What is zero narrows nothing.
type Find struct {
	Text         string
	Since, Until time.Time  // active at one of the times from Since to Until
	Parent       id.Session // only its children
	Limit        int
	After        id.Session // of an earlier page the last that was looked at
	// Self asks. Its own conversation, which it knows, is not searched.
	Self id.Session
}

// findSessions checks the arguments of a search and asks for it. A search is a
// snapshot, as a read is.
func (w *work) findSessions(c transcript.Call, a FindCall) bool {
	if _, err := ParseFind(a); err != nil {
		w.refuse(c, err)
		return false
	}
	w.order(effect.FindSessions{Call: c.ID})
	return true
}

// Page sizes of a search for sessions.
const (
	foundSessions    = 20
	maxFoundSessions = 100
)

// ParseFind applies the rules of a search for sessions that need no state.
func ParseFind(a FindCall) (Find, *fault.Error) {
	const tool = "find_session_transcripts"
	f := Find{Text: strings.TrimSpace(a.Text), Limit: foundSessions}
	if a.Limit != nil {
		if *a.Limit < 1 {
			return f, fault.Invalid("%s: limit must be 1 or more (got %d)", tool, *a.Limit)
		}
		f.Limit = int(min(*a.Limit, maxFoundSessions))
	}
	if name := a.ChildrenOf; name != "" {
		s, isRef := strings.CutPrefix(name, conversationRef)
		parent, ok := id.ParseSession(s)
		if f.Parent = parent; !isRef || !ok {
			return f, fault.Invalid("%s: children_of %s is no session ref; use local:<session_id>, as transcript_ref of a session has it", tool, quote(name))
		}
	}
	if a.Cursor != "" {
		var ok bool
		if f.After, ok = id.ParseSession(a.Cursor); !ok {
			return f, fault.Invalid("%s: cursor %s is none; give the next_cursor of an earlier page", tool, quote(a.Cursor))
		}
	}
	var refusal *fault.Error
	f.Since, _, refusal = findTime(tool, "since", a.Since)
	until, day, r := findTime(tool, "until", a.Until)
	if f.Until = until; day {
		f.Until = until.AddDate(0, 0, 1).Add(-1)
	}
	switch refusal = cmp.Or(notLong(tool, "text", f.Text), refusal, r); {
	case refusal != nil:
	case a.Text != "" && f.Text == "":
		refusal = fault.Invalid("%s: text is blank; leave it out to find any session", tool)
	case !f.Until.IsZero() && f.Until.Before(f.Since):
		refusal = fault.Invalid("%s: until %s is before since %s", tool, a.Until, a.Since)
	}
	return f, refusal
}

// findTime reads a moment, or a whole day. Empty is no bound.
func findTime(tool, name, s string) (at time.Time, day bool, refusal *fault.Error) {
	if s == "" {
		return at, false, nil
	}
	if at, err := time.Parse(time.DateOnly, s); err == nil {
		return at, true, nil
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return at, false, fault.Invalid("%s: %s %s is no time; use RFC 3339, such as 2026-01-31T09:30:00Z, or a date, such as 2026-01-31", tool, name, quote(s))
	}
	return at.UTC(), false, nil
}
