package session

import (
	"cmp"
	"slices"
	"time"
	"unicode/utf8"

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
	v := job.View(x, w.live(x.ID), w.facts.Now)
	v.ParentDelegate = w.s.Delegate
	w.answer(c, v, w.s.PollNote(c))
}

// ListResult is the answer of job_list.
type ListResult struct {
	Items      []any `json:"items"`
	Count      int   `json:"count"`
	Allowance  int64 `json:"delegation_allowance,omitempty"` // only above 1
	TotalCount int   `json:"total_count"`
	WatchList
}

// List is one page of a listing: what it says, and its text without remarks.
// The watches are the caller's, on every page and beyond its bounds; more is what
// the page says besides, within them.
func (s *State) List(all []job.Item, page job.Window, allowance int64, l Limits, more string) (ListResult, string) {
	shown := page.Of(all)
	r := ListResult{Items: []any{}, Count: len(shown), TotalCount: len(all)}
	for _, x := range shown {
		r.Items = append(r.Items, x.Row())
	}
	if allowance > 1 {
		r.Allowance = allowance
	}
	r.WatchList = s.watchList()
	chars := int(l.JobListChars)
	if chars > 0 {
		chars = max(1, chars-utf8.RuneCountInString(more))
	}
	return r, job.ListText(shown, len(all), page, chars, int(l.JobListLines)) + r.WatchList.lines() + more
}

// jobList answers with one page of the jobs there are, newest activity first.
func (w *work) jobList(c transcript.Call, a JobListCall) {
	page, err := job.Page("job_list", a.Limit, a.Offset)
	if err != nil {
		w.refuse(c, err)
		return
	}
	r, shown := w.s.List(w.s.Items(a, w.liveOf, job.Place{}), page, w.s.Run.Limits.MaxSubagentDepth, w.s.Run.Limits, "")
	if note := w.s.PollNote(c); note != "" {
		shown += "\n" + note
	}
	w.emit(transcript.Answered{Call: c.ID, Name: c.Name, Text: shown, Data: text.Encode(r)})
}

// Items are the session's jobs that a listing asks for.
func (s *State) Items(a JobListCall, live func(*job.State) job.Live, p job.Place) []job.Item {
	if len(a.Type) > 0 && !slices.Contains(a.Type, "shell") {
		return nil
	}
	p.ParentDelegate = s.Delegate
	jobs := s.Jobs()
	out := make([]job.Item, 0, len(jobs))
	for _, x := range jobs {
		if len(a.Status) > 0 && !slices.Contains(a.Status, string(x.Public())) {
			continue
		}
		out = append(out, x.Item(live(x), &p))
	}
	return out
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
	if w.stopJob(x, job.ByJobStop, call) && wait > 0 {
		w.order(effect.SetTimer{Key: stopTimer(c.ID), After: wait})
		return true
	}
	w.answer(c, job.ResultOfStop(x, before), "")
	return false
}

// stopJob stops one job and reports whether it can still be stopped. call is the
// job_stop that waits for its end, if one does.
func (w *work) stopJob(x *job.State, by job.StopBy, call string) bool {
	e, fx, ok := job.Stop(x, by, call, w.grace())
	if ok {
		w.emit(e)
		w.order(fx...)
	}
	return ok
}

// stopChildren stops the active jobs that a job started, and theirs, among
// those that the caller can see.
func (w *work) stopChildren(parent id.Job) {
	for _, x := range w.s.running() {
		if x.ParentJob != parent {
			continue
		}
		w.stopJob(x, job.ByJobStop, "")
		w.stopChildren(x.ID)
	}
}
