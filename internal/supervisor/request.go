package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/transcript"
)

// callModel sends the conversation as it stands. The entries never change, so
// the request reads them while the loop goes on.
func (t *Tree) callModel(id id.Session, n int64) {
	s := t.o.Store.State.Sessions[id]
	entries, told := s.Transcript.Context(), s.Context
	r := t.request(id, n)
	ctx := t.withCancel(id, n)
	t.outside(func() {
		reply, err := t.complete(ctx, r, told, entries)
		if err != nil {
			t.modelFailed(id, n, err)
			return
		}
		if reply.Warning != "" {
			t.o.Warn(reply.Warning)
		}
		t.tell(id, session.Replied{Request: n, Reply: said(reply)})
	})
}

// modelFailed tells why no reply comes, unless it was given up.
func (t *Tree) modelFailed(id id.Session, n int64, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	in := session.ModelFailed{Request: n, Text: err.Error()}
	if e, ok := errors.AsType[*model.Error](err); ok && e.Kind == model.Overflow {
		in.Overflow, in.Limit = true, e.Limit
	}
	t.tell(id, in)
}

func (t *Tree) complete(ctx context.Context, from model.Request, told session.ContextSet, entries []transcript.Entry) (model.Reply, error) {
	m, err := t.o.Models(told.Model)
	if err != nil {
		return model.Reply{}, err
	}
	r, err := buildRequest(told, entries)
	if err == nil {
		r.Tools, err = t.tools.read(told.Tools)
	}
	if err != nil {
		return model.Reply{}, err
	}
	return m.Complete(ctx, whose(r, from), t.progress)
}

// request says whose a request is. What a session has said never changes, so
// that it is read while the loop goes on.
func (t *Tree) request(s id.Session, n int64) model.Request {
	return model.Request{Session: string(s), Number: n, Place: t.placeOf(s), Own: t.o.Store.State.Sessions[s].Own()}
}

func whose(r, from model.Request) model.Request {
	r.Session, r.Number, r.For, r.Place, r.Own = from.Session, from.Number, from.For, from.Place, from.Own
	return r
}

// placeOf is where a session stands in its tree: "" the root, "2.1" the first
// delegate of the root's second.
func (t *Tree) placeOf(s id.Session) string {
	all := t.o.Store.State.Delegates
	d := all.Get(id.DelegateOf(s))
	if d == nil {
		return ""
	}
	n := 0
	for x := range all.OwnedBy(d.Owner) {
		if n++; x == d {
			break
		}
	}
	if above := t.placeOf(d.Owner); above != "" {
		return fmt.Sprintf("%s.%d", above, n)
	}
	return strconv.Itoa(n)
}

func (t *Tree) progress(p model.Progress) {
	t.o.Progress(p)
	if p.Failed != nil {
		t.o.Warn(fmt.Sprintf("model request failed (%s), trying again in %v", p.Failed.Text, p.After.Round(1e7)))
	}
}

func buildRequest(told session.ContextSet, entries []transcript.Entry) (model.Request, error) {
	r := model.Request{System: told.System}
	if len(told.Params) > 0 {
		if err := json.Unmarshal(told.Params, &r.Params); err != nil {
			return r, fmt.Errorf("read the recorded parameters: %w", err)
		}
	}
	r.Messages = make([]model.Message, 0, len(entries)) // every request carries them all
	turn := int64(0)
	for _, e := range entries {
		m := message(e)
		m.Anew = m.Role == model.RoleUser && e.Turn != turn
		r.Messages, turn = append(r.Messages, m), e.Turn
	}
	return r, nil
}

func message(e transcript.Entry) model.Message {
	switch e.Role {
	case transcript.Assistant:
		m := model.Message{Role: model.RoleAssistant, Text: e.Text, Reasoning: e.Assistant.Reasoning, ReasoningField: e.Assistant.ReasoningField}
		for _, c := range e.Assistant.Calls {
			m.Calls = append(m.Calls, model.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Broken: c.Broken})
		}
		return m
	case transcript.Tool:
		return model.Message{Role: model.RoleTool, Text: e.Text, CallID: e.Call}
	}
	return model.Message{Role: model.RoleUser, Text: e.Text}
}

// said is a reply as the conversation records it: what later requests need.
func said(r model.Reply) transcript.AssistantSaid {
	a := transcript.AssistantSaid{
		Text: r.Text, Reasoning: r.Reasoning, ReasoningField: r.ReasoningField, Finish: r.Finish, Model: r.Model,
		Usage: transcript.Usage{Input: r.Usage.Input, Output: r.Usage.Output, Cached: r.Usage.CacheRead},
	}
	for _, c := range r.Calls {
		a.Calls = append(a.Calls, transcript.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Broken: c.Broken})
	}
	return a
}
