package supervisor

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"evener/internal/fault"
	"evener/internal/files"
)

// A system call that never returns holds up neither the call nor the end of the
// session; work that ends with its context gives its own answer.
func TestStuckFiles(t *testing.T) {
	for _, c := range []struct {
		name   string
		close  time.Duration // of the session, after this
		ends   bool          // the work, with its context
		after  time.Duration
		answer string
	}{
		{"stuck", time.Hour, false, files.Limit + stuckAfter, "write_file: the file system does not answer; whether the call took effect is unknown"},
		{"slow", time.Hour, true, files.Limit, "given up"},
		{"stuck at the end", time.Second, false, time.Second + stuckAfter, "does not answer"},
		{"slow at the end", time.Second, true, time.Second, "given up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.close)
				defer cancel()
				release := make(chan struct{})
				defer close(release)
				began := time.Now()
				r := (&Tree{ctx: ctx}).bounded(func(ctx context.Context) files.Result {
					<-ctx.Done()
					if !c.ends {
						<-release
					}
					return files.Result{Err: fault.Invalid("given up")}
				}, "write_file")
				if took := time.Since(began); took != c.after || r.Err == nil || !strings.Contains(r.Err.Text, c.answer) {
					t.Errorf("after %v: %v", took, r.Err)
				}
			})
		})
	}
}
