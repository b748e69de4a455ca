package supervisor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/model"
	"evener/internal/tree"
	"evener/internal/watch"
)

// Many jobs print at once, each watched. Some run to their end, some are stopped
// and some watches cleared in the middle. Each occurrence in the output of a job
// whose watch stood to the end is counted once, and what a watch has to say comes
// before the end of its job.
//
// clause: JC-268 JC-294 JC-303 JC-326
func TestWatchedJobs(t *testing.T) {
	const jobs, lines = 24, 40
	dir := t.TempDir()
	var started []string
	finished := map[string]bool{}
	h := newHarness(t, func(ctx context.Context, n int, r model.Request) (model.Reply, error) {
		switch n {
		case 1:
			command := fmt.Sprintf("until [ -e go ]; do sleep 0.02; done; for i in $(seq %d); do echo READY-$i $RANDOM; [ $((i %% 7)) = 0 ] && sleep 0.01; done; true", lines)
			return model.Reply{Calls: shell("background", command, jobs)}, nil
		case 2:
			var calls []model.Call
			for _, m := range r.Messages {
				if m.Role == model.RoleTool {
					started = append(started, regexp.MustCompile(`job_[0-9A-Z]{20,}`).FindString(m.Text))
				}
			}
			for i, j := range started {
				calls = append(calls, model.Call{ID: fmt.Sprintf("watch-%d", i), Name: "job_watch", Arguments: fmt.Sprintf(`{"operation":"create","source":%q,"output_match":"READY-\\d+ "}`, j)})
			}
			return model.Reply{Calls: calls}, nil
		case 3:
			var watches []string
			for _, m := range r.Messages {
				if m.Role == model.RoleTool {
					if w := regexp.MustCompile(`watch_[0-9A-Z]{20,}`).FindString(m.Text); w != "" {
						watches = append(watches, w)
					}
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				return model.Reply{}, err
			}
			var calls []model.Call
			for i := range started {
				switch i % 3 {
				case 1:
					calls = append(calls, model.Call{ID: fmt.Sprintf("stop-%d", i), Name: "job_stop", Arguments: fmt.Sprintf(`{"target":%q}`, started[i])})
				case 2:
					calls = append(calls, model.Call{ID: fmt.Sprintf("clear-%d", i), Name: "job_watch", Arguments: fmt.Sprintf(`{"operation":"clear","watch_id":%q}`, watches[i])})
				}
			}
			return model.Reply{Calls: calls}, nil
		}
		return report("done"), nil
	})
	source := map[id.Watch]string{}
	observe := h.o.Observe
	h.o.Observe = func(w tree.Write) {
		for _, e := range w.Events {
			switch e := e.(type) {
			case watch.Created:
				source[e.Watch] = e.Config.Source
			case watch.Fired:
				j := source[e.Watch]
				if finished[j] {
					t.Errorf("%s fired after the end of %s", e.Watch, j)
				}
			case job.Finished:
				finished[string(e.Job)] = true
			}
		}
		observe(w)
	}
	h.Start()
	p := h.prompt(dir)
	p.Limits.WaitJobsMS = -1
	if err := h.Ask(p); err != nil {
		t.Fatal(err)
	}
	h.await("job.finished", jobs)
	if err := h.Wait(); err != nil {
		t.Fatal(err)
	}
	s := h.store.State.Session()
	if left := s.Watches.Active(); len(left) > 0 {
		t.Errorf("%d watches are active", len(left))
	}
	if n := len(h.searches.byJob) + len(h.searches.ends); n > 0 {
		t.Errorf("%d searches are left", n)
	}
	whole := 0
	for i, j := range started {
		if x := s.Job(id.Job(j)); i%3 == 0 && x.Status == job.Completed {
			whole++
		}
	}
	if whole != jobs/3 {
		t.Errorf("%d jobs of %d ran to their end", whole, jobs/3)
	}
	for _, past := range s.Watches.Recent() {
		i := slices.Index(started, past.Config.Source)
		if i%3 == 0 && past.Fires != lines {
			t.Errorf("%s of job %d fired %d times, want %d", past.Watch.Watch, i, past.Fires, lines)
		}
	}
}
