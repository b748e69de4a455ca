package tree_test

import (
	"time"

	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/tree"
)

// record is one line of a journal: of a session, or of "" the tree.
type record struct {
	journal id.Session
	step    int64
	at      time.Time
	events  []session.Event
}

// foldDisk reads a disk as a new process does.
func foldDisk(disk []record) (*tree.State, error) {
	s := tree.New(root)
	for _, r := range disk {
		var err error
		if r.journal == "" {
			err = s.ApplyTree(r.step, r.at, r.events)
		} else {
			err = s.Apply(r.journal, r.step, r.at, r.events)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// foundOf is what a process finds that takes the tree up: no command is left.
func foundOf(t *tree.State) tree.Restarted {
	in := tree.Restarted{Sessions: map[id.Session]session.Restarted{}}
	for name, s := range t.Sessions {
		x := session.Restarted{Jobs: map[id.Job]job.Found{}}
		for _, j := range s.Live() {
			x.Jobs[j.ID] = job.Found{}
		}
		in.Sessions[name] = x
	}
	return in
}
