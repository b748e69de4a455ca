package host

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/text"
	"evener/internal/tree"
)

// activity is what an activity line asks for.
type activity struct {
	kind    string
	session string // of the tree, or the delegate whose session it is; empty: the root
	cursor  string
	limit   *int64
}

// parseActivity reads the value of an activity line.
func parseActivity(value json.RawMessage) (a activity, bad string) {
	d := json.NewDecoder(bytes.NewReader(value)) // of a line that is valid JSON
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return a, "activity is " + text.Preview(string(value), 60) + `; want an object such as {"kind":"jobs"}`
	}
	seen := map[string]bool{}
	for d.More() {
		key, _ := d.Token()
		name, _ := key.(string)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return a, fmt.Sprintf("the line is not valid JSON: %v", err)
		}
		wrong := a.set(name, v)
		if seen[name] {
			wrong = fmt.Sprintf("%s of activity is given twice", text.Quote(name, 60))
		}
		bad, seen[name] = cmp.Or(bad, wrong), true
	}
	if bad == "" && !seen["kind"] {
		bad = "activity has no kind; it is delegates, jobs or watches"
	}
	return a, bad
}

func (a *activity) set(name string, v json.RawMessage) (bad string) {
	into, want := any(nil), "a string"
	switch name {
	case "kind":
		into = &a.kind
	case "session":
		into = &a.session
	case "cursor":
		into = &a.cursor
	case "limit":
		into, want = &a.limit, "a whole number"
	default:
		return fmt.Sprintf("unknown field %s of activity; it has kind, and session, cursor and limit", text.Quote(name, 60))
	}
	if string(v) == "null" || json.Unmarshal(v, into) != nil {
		return fmt.Sprintf("%s of activity is %s; want %s", name, text.Preview(string(v), 60), want)
	}
	return ""
}

// query is what the tree is asked.
func (a activity) query(root id.Session) (tree.ActivityQuery, *fault.Error) {
	q := tree.ActivityQuery{Session: root, Kind: a.kind, Cursor: a.cursor, Limit: a.limit}
	if a.session == "" {
		return q, nil
	}
	d, isDelegate := id.ParseDelegate(a.session)
	if q.Session = d.Session(); isDelegate {
		return q, nil
	}
	var ok bool
	if q.Session, ok = id.ParseSession(a.session); !ok {
		return q, fault.Invalid("activity: %s is neither a session nor a delegate", text.Quote(a.session, 80))
	}
	return q, nil
}

// activityLine answers an activity line with a page.
func activityLine(input string, page []byte) []byte {
	head := text.Encode(struct {
		Type  string `json:"type"`
		Input string `json:"input_id,omitempty"`
	}{"activity_result", input})
	return append(append(append(head[:len(head)-1], ','), page[1:]...), '\n')
}
