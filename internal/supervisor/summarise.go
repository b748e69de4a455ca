package supervisor

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/transcript"
)

// What is asked of a model on the side: one request without tools, from which
// nothing comes but its text. It goes the way of every request, so it is checked,
// repeated and traced as they are; it makes no session, no delegate and no call.

//go:embed summarise.md
var summarisePrompt string

// summarise asks for a summary of the beginning of a conversation, in the place
// of the request that would have been too long.
func (t *Tree) summarise(id id.Session, e effect.Summarise) {
	s := t.o.Store.State.Sessions[id]
	entries, told := s.Transcript.Before(e.Upto), s.Context
	from := t.request(id, e.Request)
	from.For = model.ForSummary
	ctx := t.withCancel(id, e.Request)
	t.outside(func() {
		r, err := sideRequest(told, summarisePrompt, transcript.Digest(entries, e.Bytes))
		var m model.Model
		if err == nil {
			m, err = t.o.Models(told.Model)
		}
		var reply model.Reply
		if err == nil {
			reply, err = m.Complete(ctx, whose(r, from), t.progress)
		}
		if err != nil {
			t.modelFailed(id, e.Request, err)
			return
		}
		a := said(reply)
		t.tell(id, session.Summarised{Request: e.Request, Text: a.Text, Model: a.Model, Usage: a.Usage})
	})
}

// sideRequest offers no tools.
func sideRequest(told session.ContextSet, system, text string) (model.Request, error) {
	r := model.Request{System: system, Messages: []model.Message{{Role: model.RoleUser, Text: text}}}
	if len(told.Params) > 0 {
		if err := json.Unmarshal(told.Params, &r.Params); err != nil {
			return r, fmt.Errorf("read the recorded parameters: %w", err)
		}
	}
	return r, nil
}
