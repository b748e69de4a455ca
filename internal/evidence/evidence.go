// Package evidence reads what sessions keep: the output of shell jobs, by
// job: refs, and their conversations, by local: refs. The model's read_transcript and the user's evener show go through
// it, so the two cannot differ. A read is a snapshot of durable state: it never
// waits, consumes nothing, and needs no living owner.
package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/joblog"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/text"
)

// Reader reads from one state folder and, where it is one of several projects
// of a state home, from the others what has an exact ref.
type Reader struct {
	Home store.Home
	// MaxChars bounds the markdown view, in characters.
	MaxChars int
}

// Record is what a read says of the job itself.
type Record struct {
	ID      id.Job
	Status  job.Status
	Running bool
	Command string
	Total   int64 // lifetime output bytes
	Start   int64 // first retained byte
	Pruned  bool  // retention removed the output

	home store.Home // where another project's job was found
}

// RecordOf takes the record of a folded job. l is what is known live of it.
func RecordOf(s *job.State, l job.Live) Record {
	r := Record{ID: s.ID, Status: s.Public(), Running: !s.Terminal(), Command: s.Command, Total: s.TotalBytes(l), Pruned: s.Pruned}
	if s.Terminal() {
		r.Start = s.End.RetainedStart
	}
	return r
}

// Lookup finds the record of any job by the owner that its id names: in this
// state folder, else in one of its siblings. A forged owner reads like an
// unknown id, and of two siblings that have the owner none is picked.
func (r Reader) Lookup(j id.Job) (Record, *fault.Error) {
	missing := session.NoJob(j)
	home, refusal := r.homeOf(j.Owner(), fmt.Sprintf("job %s", j), missing)
	if refusal != nil {
		return Record{}, refusal
	}
	s, err := home.Job(j)
	if err != nil {
		return Record{}, fault.New(fault.TargetNotFound, "read_transcript: the record of %s cannot be read: %v", j, err)
	}
	if s == nil || !s.Durable() {
		return Record{}, missing
	}
	info, err := joblog.Stat(home.Log(j))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Record{}, fault.New(fault.OutputUnavailable, "read_transcript: %v", err)
	}
	rec := RecordOf(s, job.Live{Job: j, Total: info.End})
	rec.home = home
	return rec, nil
}

// homeOf finds the state folder that has a session: this one, else one of its
// siblings. what is looked for there, missing the answer where there is none.
func (r Reader) homeOf(s id.Session, what string, missing *fault.Error) (store.Home, *fault.Error) {
	if r.Home.Has(s) {
		return r.Home, nil
	}
	others, err := r.Home.Siblings(s)
	switch {
	case err != nil:
		return store.Home{}, fault.New(fault.TargetNotFound, "read_transcript: no %s here, and other projects cannot be searched: %v", what, err)
	case len(others) == 0:
		return store.Home{}, missing
	case len(others) == 1:
		return others[0], nil
	}
	var all []string
	for _, h := range others {
		all = append(all, h.Dir(s))
	}
	return store.Home{}, fault.Invalid("read_transcript: %s is ambiguous: its session stands in %s", what, strings.Join(all, " and in "))
}

// log is the file of a job's output.
func (r Reader) log(rec Record) string {
	if rec.home.Sessions != "" {
		return rec.home.Log(rec.ID)
	}
	return r.Home.Log(rec.ID)
}

// leftOut reports whether the session is from a bundle that was made without the
// output of this job.
func (r Reader) leftOut(rec Record) bool {
	h := r.Home
	if rec.home.Sessions != "" {
		h = rec.home
	}
	root, err := h.TreeOf(rec.ID.Owner())
	if err != nil {
		return false // told where journals are read
	}
	b, _, err := h.Bundled(root)
	return err == nil && slices.ContainsFunc(b.Outputs, func(x store.LeftOut) bool { return x.Job == rec.ID })
}

// Read gives the view that the arguments ask for, as compact JSON.
func (r Reader) Read(rec Record, a session.ReadTranscriptCall) ([]byte, *fault.Error) {
	var view any
	var err *fault.Error
	switch {
	case a.OutputMatch != nil:
		view, err = r.search(rec, a)
	case a.OffsetBytes != nil:
		view, err = r.page(rec, *a.OffsetBytes)
	default:
		view, err = r.markdown(rec)
	}
	if err != nil {
		return nil, err
	}
	return text.Encode(view), nil
}

// base are the fields that pages and searches share.
type base struct {
	Ref           string `json:"transcript_ref"`
	TotalBytes    int64  `json:"total_bytes"`
	RetainedStart int64  `json:"retained_start_bytes"`
	JobStatus     string `json:"job_status"` // running or terminal
}

func (rec Record) base(in joblog.Info) base {
	b := base{Ref: job.Ref(rec.ID), TotalBytes: max(rec.Total, in.End), RetainedStart: max(rec.Start, in.Start), JobStatus: "terminal"}
	if rec.Running {
		b.JobStatus = "running"
	}
	return b
}

// unavailable turns a failed read of bytes into its code.
func (r Reader) unavailable(rec Record, err error) *fault.Error {
	switch {
	case rec.Pruned:
		return fault.New(fault.OutputUnavailable, "read_transcript: the output of %s was removed by retention (output_keep_total_bytes); its record remains", rec.ID)
	case errors.Is(err, fs.ErrNotExist) && r.leftOut(rec):
		return fault.New(fault.OutputUnavailable, "read_transcript: the output of %s was left out when the bundle was made; its record remains", rec.ID)
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.OutputUnavailable, "read_transcript: no output of %s is kept", rec.ID)
	}
	if e, ok := errors.AsType[*joblog.EvictedError](err); ok {
		return fault.New(fault.OutputUnavailable, "read_transcript: byte %d of %s is no longer kept; the retained output begins at byte %d", e.Offset, rec.ID, e.Start)
	}
	if e, ok := errors.AsType[*joblog.PastEndError](err); ok {
		return fault.New(fault.OutputUnavailable, "read_transcript: byte %d of %s does not exist; the output ends at byte %d", e.Offset, rec.ID, e.End)
	}
	return fault.New(fault.OutputUnavailable, "read_transcript: %v", err)
}

// empty reports whether the job printed nothing at all, so that a missing file is no loss.
func (rec Record) empty() bool { return rec.Total == 0 && !rec.Pruned }

// fence returns a code fence longer than any run of backticks in s.
func fence(s string) string {
	longest, run := 2, 0
	for _, c := range s {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}
