package tree

import (
	"strings"
	"testing"
	"time"

	"evener/internal/id"
)

// FuzzCursor: any cursor of the activity is a place or one line that says why not, and a place
// that was given is found again.
func FuzzCursor(f *testing.F) {
	const s = "01M8Q997R6Q8TN9GB1D0SSP3AZ"
	f.Add("jobs."+s+".1764547200000000.job_x", int64(5), "a")
	f.Add("watches."+s+".1.x", int64(-1), "watch_1")
	f.Add("....", int64(0), "")
	f.Add("jobs."+s+".99999999999999999999.x\x1b\n", int64(1)<<62, "b")
	f.Fuzz(func(t *testing.T, cursor string, at int64, name string) {
		q := ActivityQuery{Session: id.Session(s), Kind: "jobs", Cursor: cursor}
		if _, err := q.position(); err != nil && (strings.ContainsAny(err.Text, "\n\r\x00\x1b") || len(err.Text) > 1_000) {
			t.Errorf("%q is refused with %q", cursor, err.Text)
		}
		if name == "" || strings.Contains(name, ".") {
			return
		}
		given := made{at: time.UnixMicro(at), id: name}
		q.Cursor = q.next(given)
		if got, err := q.position(); err != nil || !got.at.Equal(given.at) || got.id != name {
			t.Errorf("%q is read as %v %v", q.Cursor, got, err)
		}
	})
}
