package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"evener/internal/fault"
	"evener/internal/model"
	"evener/internal/tree"
)

// Readers see what is on disk, in whatever the loop is just doing, and hold nothing
// up; after the end they are told that it is over.
func TestActivityBesideTheLoop(t *testing.T) {
	const jobs = 8
	h := newHarness(t, func(_ context.Context, n int, _ model.Request) (model.Reply, error) {
		if n == 1 {
			return model.Reply{Calls: shell("background", "true", jobs)}, nil
		}
		return report("done"), nil
	})
	h.Start()
	q := tree.ActivityQuery{Session: h.Root(), Kind: tree.Jobs}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for seen := 0; ; {
				page, err := h.Activity(q)
				if refused, ok := errors.AsType[*fault.Error](err); ok && refused.Code == fault.Closing {
					return
				}
				var p struct {
					Total int `json:"total_count"`
				}
				if err != nil || json.Unmarshal(page, &p) != nil || p.Total < seen || p.Total > jobs {
					t.Errorf("%d jobs after %d, %v", p.Total, seen, err)
					return
				}
				seen = p.Total
			}
		})
	}
	if err := h.Ask(h.prompt(t.TempDir())); err != nil {
		t.Error(err)
	}
	if err := h.Wait(); err != nil {
		t.Fatal(err)
	}
	readers.Wait()
	if n := len(h.store.State.Session().Jobs()); n != jobs {
		t.Errorf("%d jobs", n)
	}
}
