package session

import (
	"strings"
	"testing"
	"time"

	"evener/internal/fault"
)

// FuzzQuestions: cursors, ranges, refs and times, as a model gives them, are what they name or
// one line that says why not.
func FuzzQuestions(f *testing.F) {
	f.Add("01M8Q997R6Q8TN9GB1D0SSP3AZ", "last:3", "local:01M8Q997R6Q8TN9GB1D0SSP3AZ", "2026-01-01", "2026-01-01T10:00:00Z")
	f.Add("", "start:999999999999999999", "job:job_01M8Q997R6Q8TN9GB1D0SSP3AZHWJAYV", "", "")
	f.Add("../x", "9-3", "local:../x", "2026-02-30", "x")
	f.Add("\x00", "1-99999999999999999999", "job:", "0000-01-01", "9999-12-31")
	f.Fuzz(func(t *testing.T, cursor, turns, ref, since, until string) {
		one := func(what string, err *fault.Error) bool {
			if err != nil && (strings.ContainsAny(err.Text, "\n\r\x00\x1b") || len(err.Text) > 2_000 || err.Code == "") {
				t.Errorf("%s is refused with %q", what, err.Text)
			}
			return err == nil
		}
		if found, err := ParseFind(FindCall{Cursor: cursor, ChildrenOf: ref, Since: since, Until: until}); one("the search", err) {
			if string(found.After) != cursor || ref != "" && ref != conversationRef+string(found.Parent) {
				t.Errorf("%q %q is read as %+v", cursor, ref, found)
			}
			if !found.Until.IsZero() && found.Until.Before(found.Since) || found.Since.After(time.Date(10_000, 1, 2, 0, 0, 0, 0, time.UTC)) {
				t.Errorf("%q to %q is read as %v to %v", since, until, found.Since, found.Until)
			}
		}
		if w, err := ParseTurns(turns); one("the range", err) && (w.First < 0 || w.Last < 0 || w.From > w.To || w == Turns{}) {
			t.Errorf("%q is read as %+v", turns, w)
		}
		if order, err := CheckRead(ReadTranscriptCall{Ref: ref, Range: &turns}); one("the read", err) && ref != conversationRef+string(order.Session) && ref != outputRef+string(order.Job) {
			t.Errorf("%q is read as %+v", ref, order)
		}
	})
}
