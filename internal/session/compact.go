package session

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"evener/internal/effect"
	"evener/internal/transcript"
)

// A conversation that would not fit its model any more is shortened before it is
// sent: the model is asked, by a request without tools, to summarise the
// beginning, and from there on it is told the summary and the recent rest. The
// request stands in the place of the one that would not fit, so an interrupt or a
// close abandons it as any other. Nothing else changes: jobs, delegates, tasks
// and notices that are owed are no part of the conversation.
//
//	context_tokens  the conversation is about to exceed it: shorten, then send; where
//	                no summary comes it is sent as it is
//	overflow        the server said no: shorten once, then send again; where no summary
//	                comes, or it says no again, the turn has failed

// CompactionCause is why a conversation was shortened.
type CompactionCause string

const (
	BySize     CompactionCause = "context_tokens"
	ByOverflow CompactionCause = "overflow"
)

// CompactionStarted: a request is sent for a summary of the beginning.
type CompactionStarted struct {
	Turn    int64           `json:"turn_id"`
	Request int64           `json:"request"`
	Upto    int64           `json:"up_to_entry"` // how many entries it is to stand for
	Why     CompactionCause `json:"why"`
	Tokens  int64           `json:"estimated_tokens"` // of what would be sent
	Error   string          `json:"error,omitempty"`  // the overflow that the server told
}

// CompactionFailed: no summary came; the conversation is as it was.
type CompactionFailed struct {
	Turn    int64  `json:"turn_id"`
	Request int64  `json:"request"`
	Error   string `json:"error"`
}

func (CompactionStarted) Kind() string { return "session.compaction_started" }
func (CompactionFailed) Kind() string  { return "session.compaction_failed" }

// Summarised is a summary that was asked for.
type Summarised struct {
	Request int64            `json:"request"`
	Text    string           `json:"-"`
	Model   string           `json:"-"`
	Usage   transcript.Usage `json:"-"`
}

func (Summarised) Kind() string { return "model.summarised" }

const (
	// bytesPerToken is fewer bytes than a token of common text and code has, so that
	// sizes are rather thought too large.
	bytesPerToken = 3
	// replyShare is the part of the context that is kept free for a reply, unless
	// max_tokens says how long that may be.
	replyShare = 8
	// worthShare: a summary of less than this part of the context gains nothing.
	worthShare = 8
	// promptKept is how much of the prompt that is worked on stands behind the
	// summary, in characters, where the summary stands for it.
	promptKept = 4000
	// namesKept is how many jobs and delegates stand there.
	namesKept = 50
)

func tokens(bytes int) int64 { return int64(bytes+bytesPerToken-1) / bytesPerToken }

// contextSize is about how many tokens a request has: what the server counted
// with the latest reply, and a guess for what is new since then. Where it counted
// nothing all of it is a guess.
func (s *State) contextSize() (size int64, counted bool) {
	all, from := s.Transcript.Entries, s.Transcript.Summed()
	n := int64(0)
	for i := len(all) - 1; i >= from; i-- {
		if all[i].Role == transcript.Summary {
			return s.fixed() + n + tokens(all[i].Size()) + sizeOf(all[from:i]), false
		}
		if a := all[i].Assistant; a != nil && a.Usage.Input > 0 {
			return a.Usage.Input + a.Usage.Output + n, true
		}
		n += tokens(all[i].Size())
	}
	return s.fixed() + n, false
}

func sizeOf(all []transcript.Entry) int64 {
	n := int64(0)
	for _, e := range all {
		if e.Role != transcript.Summary {
			n += tokens(e.Size())
		}
	}
	return n
}

// fixed is what every request has beside the conversation.
func (s *State) fixed() int64 { return tokens(len(s.Context.System) + len(s.Context.Tools)) }

// room is how much a request may have; 0 where nobody knows.
func (s *State) room() int64 {
	limit := s.Context.ContextTokens
	var params struct {
		MaxTokens int64 `json:"max_tokens"`
	}
	if len(s.Context.Params) > 0 && json.Unmarshal(s.Context.Params, &params) != nil {
		return 0
	}
	reply := limit / replyShare
	if params.MaxTokens > 0 {
		reply = min(params.MaxTokens, limit/2)
	}
	return limit - reply
}

// compacts asks for a summary where the conversation has outgrown its model.
// After one that did not come the turn goes on without. Where by a guess there is
// no room for any conversation, the guess is not relied on: the server may say no.
func (w *work) compacts() bool {
	s := w.s
	room := s.room()
	size, counted := s.contextSize()
	if room <= 0 || size <= room || s.Turn.Unsummarised || !counted && s.fixed() >= room {
		return false
	}
	return w.summarise(BySize, room, size, "")
}

// overflowed asks for a summary because the server said that a request is too
// long. Nobody may know how long it may be: then half of it is aimed at.
func (w *work) overflowed(in ModelFailed) bool {
	s := w.s
	if s.Run.Ending != "" || s.Turn.Overflow != "" {
		return false
	}
	size, _ := s.contextSize()
	room := size / 2
	if known := s.room(); known > 0 {
		room = min(room, known)
	}
	if in.Limit > 0 {
		room = min(room, in.Limit-in.Limit/replyShare)
	}
	return w.summarise(ByOverflow, room, size, in.Text)
}

// summarise sends the request for a summary, if one would help.
func (w *work) summarise(why CompactionCause, room, size int64, overflow string) bool {
	s := w.s
	upto := s.cut((room - s.fixed() - room/replyShare) / 2)
	if upto <= s.Transcript.Summed() || sizeOf(s.Transcript.Before(int64(upto))) < min(size, room)/worthShare {
		return false
	}
	n := s.Requests + 1
	w.emit(CompactionStarted{Turn: s.Turn.N, Request: n, Upto: int64(upto), Why: why, Tokens: size, Error: overflow})
	w.order(effect.Summarise{Request: n, Upto: int64(upto), Bytes: max(int(room)*bytesPerToken, minDigest)})
	return true
}

// minDigest is the least that a summary is made of, in bytes.
const minDigest = 4 << 10

// cut is how many entries a summary is to stand for, so that what stays is small
// enough. It never comes between a call and its results. The round that the next
// request answers to stays, and the prompt where there is none; before that
// whole turns stay if they can.
func (s *State) cut(target int64) int {
	all, last := s.Transcript.Entries, s.unanswered()
	kept, best, turn := int64(0), 0, 0
	for i := len(all) - 1; i > s.Transcript.Summed(); i-- {
		e := all[i]
		if e.Role == transcript.Summary {
			continue
		}
		kept += tokens(e.Size())
		if e.Role == transcript.Tool || i > last {
			continue
		}
		if kept > target && best > 0 {
			break
		}
		best = i
		if s.opens(i) {
			turn = i
		}
		if kept > target {
			break
		}
	}
	if turn > 0 {
		return turn
	}
	return best
}

// unanswered is the first entry that the next request answers to.
func (s *State) unanswered() int {
	all := s.Transcript.Entries
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Role == transcript.Assistant || s.opens(i) && all[i].Turn == s.Turn.N {
			return i
		}
	}
	return 0
}

// opens reports whether a turn begins with this entry.
func (s *State) opens(i int) bool {
	all := s.Transcript.Entries
	if r := all[i].Role; r != transcript.User && r != transcript.Frames {
		return false
	}
	for before := i - 1; before >= 0; before-- {
		if r := all[before].Role; r != transcript.Tool && r != transcript.Summary {
			return all[before].Turn != all[i].Turn
		}
	}
	return true
}

// summarised takes the summary and sends what was held back.
func (w *work) summarised(in Summarised) {
	if !w.out(in.Request) || w.s.Turn.Compacting == nil {
		return
	}
	said := strings.TrimSpace(in.Text)
	if said == "" {
		w.notSummarised("the model answered with nothing")
		return
	}
	s := w.s
	upto := s.Turn.Compacting.Upto
	w.emit(transcript.Compacted{Turn: s.Turn.N, Request: in.Request, Upto: upto, Summary: said, Note: w.note(upto), Model: in.Model, Usage: in.Usage})
	w.afterSummary()
}

// notSummarised goes on without: what did not fit for the server has failed.
func (w *work) notSummarised(why string) {
	c := *w.s.Turn.Compacting
	w.emit(CompactionFailed{Turn: c.Turn, Request: c.Request, Error: why})
	if c.Why == ByOverflow && w.err == nil && w.s.Run.Ending == "" {
		w.endTurn(TurnFailed, c.Error+"; the conversation could not be shortened: "+why)
		return
	}
	w.afterSummary()
}

func (w *work) afterSummary() {
	switch {
	case w.err != nil:
	case w.s.Run.Ending != "":
		w.endTurn(TurnInterrupted, w.s.Run.Ending)
	default:
		w.send()
	}
}

// note is what the model must not forget beside the summary: what there still is,
// and the prompt that it works on.
func (w *work) note(upto int64) string {
	s := w.s
	var parts []string
	if names := w.known(); len(names) > 0 {
		parts = append(parts, "Still there, as it was before:\n- "+strings.Join(names, "\n- "))
	}
	if prompt := s.workedOn(upto); prompt != "" {
		parts = append(parts, "The prompt that you are working on:\n"+beginning(prompt))
	}
	if slices.Contains(s.tools, "read_transcript") {
		parts = append(parts, fmt.Sprintf("All of it can be read with read_transcript, transcript_ref \"local:%s\".", s.ID))
	}
	return strings.Join(parts, "\n\n")
}

// known names the jobs that run, the session's delegates, its watches and its task list.
func (w *work) known() []string {
	var out []string
	for _, x := range w.s.running() {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%s running: %s", x.ID, preview(cmp.Or(x.Description, x.Command))), ": "))
	}
	if ask := w.facts.Kin.Delegates; ask != nil {
		out = append(out, ask()...)
	}
	for _, x := range w.s.Watches.Rows() {
		out = append(out, fmt.Sprintf("%s watching %s: %s", x.ID, preview(x.Source), preview(x.Condition)))
	}
	if n := len(out); n > namesKept {
		out = append(out[:namesKept], fmt.Sprintf("and %d more; job_list lists them", n-namesKept))
	}
	if len(w.s.Tasks.All()) > 0 {
		out = append(out, "the task list; the tool tasks shows it")
	}
	return out
}

// beginning is a prompt as it was said, as far as there is room.
func beginning(prompt string) string {
	if r := []rune(prompt); len(r) > promptKept {
		return string(r[:promptKept]) + "…"
	}
	return prompt
}

// workedOn is the prompt of the open turn where the summary stands for it.
func (s *State) workedOn(upto int64) string {
	for _, e := range s.Transcript.Entries[:upto] {
		if e.Role == transcript.User && e.Turn == s.Turn.N && !e.Note {
			return e.Text
		}
	}
	return ""
}

func (s *State) applyCompaction(e Event) error {
	t := s.Turn
	if t == nil {
		return fmt.Errorf("%s while no turn is open", e.Kind())
	}
	switch e := e.(type) {
	case CompactionStarted:
		if (t.Waiting != 0) != (e.Why == ByOverflow) || t.Compacting != nil || e.Request != s.Requests+1 || len(s.Transcript.Open()) > 0 {
			return fmt.Errorf("request %d: out of order", e.Request)
		}
		s.Requests, t.Waiting, t.Compacting = e.Request, e.Request, &e
		if e.Why == ByOverflow {
			t.Overflow = e.Error
		}
		return nil
	case CompactionFailed:
		if t.Compacting == nil || t.Compacting.Request != e.Request {
			return fmt.Errorf("request %d asked for no summary", e.Request)
		}
		t.Unsummarised = true
	case transcript.Compacted:
		if t.Compacting == nil || t.Compacting.Request != e.Request || t.Compacting.Upto != e.Upto {
			return fmt.Errorf("request %d asked for no such summary", e.Request)
		}
		s.Tokens, t.Tokens = s.Tokens.Plus(e.Usage), t.Tokens.Plus(e.Usage)
		if err := s.Transcript.Apply(e); err != nil {
			return err
		}
		s.Attention.Covered(int(e.Upto)) // a summary settles no notice
	}
	t.Waiting, t.Compacting = 0, nil
	return nil
}
