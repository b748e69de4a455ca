package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/transcript"
)

// callModel sends the conversation as it stands. The entries never change, so
// the request reads them while the loop goes on.
func (t *Tree) callModel(n int64) {
	s := t.o.Store.State.Session()
	entries, told := s.Transcript.Entries, s.Context
	ctx := t.withCancel(n)
	t.outside(func() {
		r, err := buildRequest(told, entries, t.o.Params)
		r.Session, r.Number = string(t.o.Store.Root), n
		var reply model.Reply
		if err == nil {
			reply, err = t.o.Model.Complete(ctx, r, t.progress)
		}
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Post(session.ModelFailed{Request: n, Text: err.Error()})
			}
			return
		}
		if reply.Warning != "" {
			t.o.Warn(reply.Warning)
		}
		t.Post(session.Replied{Request: n, Reply: said(reply)})
	})
}

func (t *Tree) progress(p model.Progress) {
	t.o.Progress(p)
	if p.Failed != nil {
		t.o.Warn(fmt.Sprintf("model request failed (%s), trying again in %v", p.Failed.Text, p.After.Round(1e7)))
	}
}

func buildRequest(told session.ContextSet, entries []transcript.Entry, params model.Params) (model.Request, error) {
	r := model.Request{System: told.System, Params: params}
	var tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	if err := json.Unmarshal(told.Tools, &tools); err != nil {
		return r, fmt.Errorf("read the recorded tools: %w", err)
	}
	for _, x := range tools {
		r.Tools = append(r.Tools, model.Tool{Name: x.Name, Description: x.Description, Parameters: x.Parameters})
	}
	r.Messages = make([]model.Message, 0, len(entries)) // every request carries them all
	for _, e := range entries {
		r.Messages = append(r.Messages, message(e))
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
