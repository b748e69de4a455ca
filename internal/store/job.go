package store

import (
	"bytes"

	"evener/internal/id"
	"evener/internal/job"
)

// Job folds one job from the journal of its owner, and nothing else: memory does
// not grow with the journal. It is nil where the job has no record there.
func (h Home) Job(j id.Job) (*job.State, error) {
	var found *job.State
	line, path, name := int64(0), h.Journal(j.Owner()), []byte(j)
	for e, err := range h.entries(path) {
		if err != nil {
			return nil, legacy(err)
		}
		if line++; e.Own() {
			continue
		}
		for kind, data := range e.Events() {
			if kinds[kind] == nil {
				return nil, &FoldError{path, line, e.Seq, e.Off, unknownKind(kind)}
			}
			if !jobKinds[kind] || !bytes.Contains(data, name) && !bytes.HasPrefix(data, asidePrefix) {
				continue
			}
			ev, err := decode(h, j.Owner(), kind, data)
			if x, ok := ev.(job.Event); err == nil && ok && x.JobID() == j {
				if found == nil {
					found = &job.State{}
				}
				err = found.Apply(e.At(), x)
			}
			if err != nil {
				return nil, &FoldError{path, line, e.Seq, e.Off, err}
			}
		}
	}
	return found, nil
}

// jobKinds are the kinds of events that make a job's record.
var jobKinds = func() map[string]bool {
	kinds := map[string]bool{}
	for _, e := range []job.Event{job.Intended{}, job.Started{}, job.Promoted{}, job.StopRequested{}, job.Finished{}, job.OutputPruned{}} {
		kinds[e.Kind()] = true
	}
	return kinds
}()
