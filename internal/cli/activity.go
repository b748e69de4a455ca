package cli

import (
	"cmp"
	"fmt"
	"os"

	"evener/internal/job"
	"evener/internal/joblog"
	"evener/internal/store"
	"evener/internal/tree"
)

var activityCommand = command{
	name: "activity", args: "--kind KIND [--cursor CURSOR] [--limit N] [--json] [SESSION]",
	summary: "the delegates, jobs or watches of a session, page by page",
	help: "For programs that show a session, by default the latest one; SESSION may be the id of a\ndelegate. Rows are those of job_list, in the order in which they were made, the latest\n" +
		"first. A page ends with the cursor of the next one: with --json, one object, in\nnext_cursor. A cursor stays good, whatever goes on meanwhile; with another session or\n" +
		"kind it is refused. Nothing is written, and a session that another process holds is read\nas its journals have it; held_by names that process. A session on pipes answers the same\nto {\"activity\":{\"kind\":\"jobs\"}}.",
}

func init() { activityCommand.run = runActivity }

// heldPage is a page with who holds the tree.
type heldPage struct {
	tree.ActivityPage
	Held *store.Holder `json:"held_by,omitempty"`
}

func runActivity(e *env, args []string) int {
	fs := e.flags(activityCommand)
	set := e.stateFlags(fs)
	var q tree.ActivityQuery
	fs.StringVar(&q.Kind, "kind", "", "`kind`: delegates, jobs or watches")
	fs.StringVar(&q.Cursor, "cursor", "", "next_`cursor` of the page before")
	limit := fs.Int64("limit", 50, "`rows` a page, up to 100")
	asJSON := fs.Bool("json", false, "the page as one object")
	rest, status, ok := e.parse(activityCommand, fs, args)
	if !ok {
		return status
	}
	if q.Kind == "" {
		return e.fail(exitUsage, "", "activity needs --kind: delegates, jobs or watches")
	}
	q.Limit = limit
	home, _, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	if q.Session, status, ok = e.oneSession(home, "activity", rest); !ok {
		return status
	}
	t, err := store.LoadTree(home, q.Session)
	if err != nil {
		return e.failState(err)
	}
	page, refusal := t.Activity(q, onDisk(home))
	if refusal != nil {
		return e.fail(exitUsage, "", "%s", refusal.Text)
	}
	held, err := e.heldBy(home, t.Root)
	if err != nil {
		return e.failState(err)
	}
	if *asJSON {
		writeJSON(e, heldPage{page, held})
		return exitOK
	}
	return e.printActivity(page, held != nil)
}

// onDisk is what the log of a running job tells of it.
func onDisk(home store.Home) func(*job.State) job.Live {
	return func(x *job.State) job.Live {
		l := job.Live{Job: x.ID}
		if x.Terminal() || home.At > 0 { // how much it had printed by then is not on record
			return l
		}
		path := home.Log(x.ID)
		if info, err := joblog.Stat(path); err == nil {
			l.Total = info.End
		}
		if file, err := os.Stat(path); err == nil && l.Total > 0 {
			l.LastAt = file.ModTime()
		}
		return l
	}
}

// printActivity prints a line a row.
func (e *env) printActivity(p tree.ActivityPage, held bool) int {
	var s sheet
	for _, x := range p.Items {
		switch x := x.(type) {
		case job.Row:
			s.add(x.Description, x.Command, string(x.ID), howJob(x, held), bytesOf(x.TotalBytes))
		case tree.DelegateActivity:
			state := x.Status
			if state == "running" && !held {
				state = "lost"
			}
			if x.Outcome != nil && x.Status == "idle" {
				state += fmt.Sprintf(" (%s)", x.Outcome.Status)
			}
			s.add(x.Name, x.Description, string(x.ID), state)
		case tree.WatchActivity:
			s.addWatch(x.ID, x.Source, x.Condition, cmp.Or(x.EndReason, watching(held)), x.Deliveries)
		}
	}
	if status := e.print(&s); status != exitOK {
		return status
	}
	if p.Next != "" {
		fmt.Fprintf(e.err, "evener: %d of %s; more: --cursor %s\n", p.Count, counted(int64(p.Total), "row"), p.Next)
	}
	return exitOK
}
