package host

import (
	"encoding/json"

	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/text"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// DelegateData is the payload of DELEGATE_UPDATED: the delegate as it stands
// after the decision. Revision grows with each of its facts.
type DelegateData struct {
	Delegate id.Delegate `json:"delegate_id"`
	Revision int64       `json:"revision"`
	Status   string      `json:"status"`
	Stopping bool        `json:"stopping,omitempty"`
	Name     string      `json:"name,omitempty"`
	Task     string      `json:"task"`
	Type     string      `json:"agent_type,omitempty"`
	Model    string      `json:"model"`
	Owner    id.Session  `json:"owner_session_id"`
	Parent   id.Delegate `json:"parent_delegate_id,omitempty"`
	Child    id.Session  `json:"child_session_id"`
	Ref      string      `json:"transcript_ref"`
	Outcome  *Outcome    `json:"last_outcome,omitempty"`
	Owed     int         `json:"undelivered"` // updates and reports that the owner's journal does not have yet
}

// unseeded says what went wrong when a delegate began without failing it: its
// owner reads that in the result of its call, and a person has to see it, too.
func unseeded(e transcript.Answered) string {
	var r tree.CreateResult
	if e.Name != "delegate" || e.IsError || json.Unmarshal(e.Data, &r) != nil || r.Warning == "" {
		return ""
	}
	name := string(r.Delegate)
	if r.Name != "" {
		name += " (" + r.Name + ")"
	}
	return text.Preview("delegate "+name+": "+r.Warning, 500)
}

// Outcome is how a delegate's latest run ended.
type Outcome struct {
	Status  delegate.Status `json:"status"`
	Reason  string          `json:"reason,omitempty"`
	Error   string          `json:"error,omitempty"`
	EndedAt string          `json:"ended_at"`
}

// ofTree lists the events of a line of the tree's journal: each delegate that
// it concerns once, as the line leaves it.
func (p *Projector) ofTree(w tree.Write) []Event {
	var order []id.Delegate
	touched := map[id.Delegate]bool{}
	touch := func(d id.Delegate) {
		if d != "" && !touched[d] {
			touched[d] = true
			order = append(order, d)
		}
	}
	for _, e := range w.Events {
		x, ok := e.(delegate.Event)
		if !ok || p.delegates.Apply(w.At, x) != nil {
			continue // it folded once already, before it was written
		}
		if s, ok := x.(delegate.StopRequested); ok {
			for _, m := range s.Members {
				touch(m)
			}
		}
		touch(x.DelegateID())
	}
	var out []Event
	for _, d := range order {
		s := p.delegates.Get(d)
		out = append(out, Event{Event: "DELEGATE_UPDATED", Session: s.Owner, At: job.Stamp(w.At), Step: w.Step, Data: snapshot(s)})
	}
	return out
}

func snapshot(s *delegate.State) DelegateData {
	d := DelegateData{
		Delegate: s.ID, Revision: s.Revision, Status: s.Status(), Stopping: s.Stops > 0, Name: s.Descriptor.Name, Task: text.Preview(s.Task, 400),
		Type: s.Descriptor.AgentType, Model: s.Descriptor.Model, Owner: s.Owner, Parent: s.Parent, Child: s.Session, Ref: s.Ref(), Owed: len(s.Owed),
	}
	if o := s.Last; o != nil {
		d.Outcome = &Outcome{o.Status, o.Reason, o.Error, job.Stamp(o.EndedAt)}
	}
	return d
}
