package cli

import (
	"fmt"

	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/joblog"
	"evener/internal/proc"
	"evener/internal/session"
	"evener/internal/tree"
)

// restartedTree ends what a lost process left running, and looks for how far the
// logs of its jobs got, in every session.
func (r *runner) restartedTree() tree.Restarted {
	in := tree.Restarted{Sessions: map[id.Session]session.Restarted{}}
	for s, state := range r.tree.State.Sessions {
		x := session.Restarted{Jobs: map[id.Job]job.Found{}, Seqs: r.tree.Seqs}
		for _, j := range state.Live() {
			var f job.Found
			if info, err := joblog.Stat(r.tree.Home.Log(j.ID)); err == nil {
				f.Total, f.Start = info.End, info.Start
			}
			x.Jobs[j.ID] = f
		}
		in.Sessions[s] = x
	}
	root := in.Sessions[r.tree.Root]
	root.Ended, root.Refused = sweep(r.tree.State)
	in.Sessions[r.tree.Root] = root
	if len(root.Ended) > 0 {
		r.warn(fmt.Sprintf("processes of the lost session still lived and were ended: %v", root.Ended))
	}
	if len(root.Refused) > 0 {
		r.warn(fmt.Sprintf("processes of the lost session still live and may not be ended: %v", root.Refused))
	}
	return in
}

// sweep ends what still runs of a tree that nobody holds, also what jobs left behind
// that have ended. After an end in order there is nothing.
func sweep(t *tree.State) (ended, refused []int) {
	var recorded []proc.Recorded
	lost := false
	for _, s := range t.Sessions {
		lost = lost || s.Run.Open
		for _, x := range s.Live() {
			recorded = append(recorded, proc.Recorded{PID: x.PID, StartTicks: x.StartTicks, BootID: x.BootID})
		}
	}
	if !lost && len(recorded) == 0 {
		return nil, nil
	}
	return proc.Sweep(recorded, func(name string) bool {
		j, ok := id.ParseJob(name)
		return ok && t.Sessions[j.Owner()] != nil
	})
}
