package session

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"evener/internal/attention"
	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/text"
	"evener/internal/transcript"
)

func msDuration(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// byEnd sorts ended jobs, the oldest first.
func byEnd(jobs []*job.State) {
	slices.SortFunc(jobs, func(a, b *job.State) int {
		return cmp.Or(a.Ended.Compare(b.Ended), cmp.Compare(a.ID, b.ID))
	})
}

// jobStatus answers with a job's metadata. The owner's read of a terminal
// status settles the pending notice, with the same line as the result.
func (w *work) jobStatus(c transcript.Call, a JobStatusCall) {
	x, err := w.target("job_status", a.Target)
	if err != nil {
		w.refuse(c, err)
		return
	}
	if owed := w.s.Attention.OfJob(x.ID); x.Terminal() && len(owed) > 0 {
		w.emit(attention.Consumed{IDs: owed, By: attention.ByStatus})
	}
	w.answer(c, job.View(x, w.live(x.ID), w.facts.Now), w.pollNote(c))
}

// ListResult is the answer of job_list.
type ListResult struct {
	Items      []job.Row `json:"items"`
	Count      int       `json:"count"`
	Allowance  int64     `json:"delegation_allowance,omitempty"` // only above 1
	TotalCount int       `json:"total_count"`
}

// jobList answers with one page of the jobs there are, newest activity first.
func (w *work) jobList(c transcript.Call, a JobListCall) {
	page, err := job.Page(a.Limit, a.Offset)
	if err != nil {
		w.refuse(c, err)
		return
	}
	var jobs []job.Listed
	for _, x := range w.s.Jobs() {
		if len(a.Status) > 0 && !slices.Contains(a.Status, string(x.Public())) ||
			len(a.Type) > 0 && !slices.Contains(a.Type, "shell") {
			continue
		}
		jobs = append(jobs, job.List(x, w.live(x.ID)))
	}
	job.Sort(jobs)
	items := page.Cut(jobs)
	r := ListResult{Items: items, Count: len(items), TotalCount: len(jobs)}
	if n := w.s.Run.Limits.MaxSubagentDepth; n > 1 {
		r.Allowance = n
	}
	budget := int(w.s.Run.Limits.JobListChars)
	shown := job.ListText(items, len(jobs), page, budget)
	if budget > 0 {
		shown, _ = text.Elide(shown, budget, func(n int) string {
			return fmt.Sprintf("\n… %d characters cut; read the listing in smaller pages with limit and offset …\n", n)
		})
	}
	if note := w.pollNote(c); note != "" {
		shown += "\n" + note
	}
	w.emit(transcript.Answered{Call: c.ID, Name: c.Name, Text: shown, Data: encode(r)})
}

// jobStop requests a stop. Without a wait it answers with what the stop has
// reached; with one it waits for the terminal record, for at most that long.
func (w *work) jobStop(c transcript.Call, a JobStopCall) bool {
	wait, err := job.StopWait(a.MaxWaitMS)
	var x *job.State
	if err == nil {
		x, err = w.target("job_stop", a.Target)
	}
	if err != nil {
		w.refuse(c, err)
		return false
	}
	before := x.Public()
	if a.IncludeChildren {
		w.stopChildren(x.ID)
	}
	call := ""
	if wait > 0 {
		call = c.ID
	}
	e, fx, ok := job.Stop(x, job.ByJobStop, call, w.grace())
	if ok {
		w.emit(e)
		w.order(fx...)
	}
	if ok && wait > 0 {
		w.order(effect.SetTimer{Key: "stop:" + c.ID, After: wait})
		return true
	}
	w.answer(c, job.ResultOfStop(x, before), "")
	return false
}

// stopChildren stops the active jobs that a job started, and theirs, among
// those that the caller can see.
func (w *work) stopChildren(parent id.Job) {
	for _, x := range w.s.running() {
		if x.ParentJob != parent {
			continue
		}
		if e, fx, ok := job.Stop(x, job.ByJobStop, "", w.grace()); ok {
			w.emit(e)
			w.order(fx...)
		}
		w.stopChildren(x.ID)
	}
}
