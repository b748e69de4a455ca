package attention

import (
	"encoding/json"
	"slices"
	"testing"

	"evener/internal/id"
)

const j2 = id.Job("job_01JDYH3M00041061050R3GG28A000002")

var (
	n1, n2 = ID(j1, 1), ID(j2, 1)
	armed1 = Armed{ID: n1, Source: j1, Generation: 1, Frame: "<one>"}
	armed2 = Armed{ID: n2, Source: j2, Generation: 1, Frame: "<two>"}
)

// shown is not an event of its own: a request's line carries it.
type shown []string

func (shown) Kind() string { return "shown" }
func (shown) attention()   {}

func apply(s *State, steps ...Event) error {
	for _, e := range steps {
		var err error
		if ids, ok := e.(shown); ok {
			_, err = s.Show(ids, 0)
		} else {
			err = s.Apply(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clause: JC-497 JC-507 JC-508 JC-587
func TestStates(t *testing.T) {
	consumed := func(by ConsumedBy) Consumed { return Consumed{IDs: []string{n1}, By: by} }
	for _, c := range []struct {
		what             string
		steps            []Event
		state            string
		unshown, carried []string
	}{
		{"none", nil, NotArmed, nil, nil},
		{"armed", []Event{armed1}, Pending, []string{n1}, nil},
		{"shown", []Event{armed1, shown{n1}}, Delivered, nil, []string{n1}},
		{"consumed by its turn", []Event{armed1, shown{n1}, consumed(ByTurn)}, Settled, nil, nil},
		{"consumed by a status read", []Event{armed1, consumed(ByStatus)}, Settled, nil, nil},
		{"read after it was shown", []Event{armed1, shown{n1}, consumed(ByStatus)}, Settled, nil, nil},
		{"settled inline", []Event{SettledInline{j1}}, Settled, nil, nil},
		{"another waits", []Event{armed1, armed2, shown{n1}, consumed(ByTurn)}, Settled, []string{n2}, nil},
		{"in the order armed", []Event{armed2, armed1}, Pending, []string{n2, n1}, nil},
	} {
		s := New()
		if err := apply(&s, c.steps...); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if got := s.Of(j1); got != c.state {
			t.Errorf("%s: state %s, want %s", c.what, got, c.state)
		}
		if s.Known(j1) != (c.state != NotArmed) {
			t.Errorf("%s: known %v", c.what, s.Known(j1))
		}
		if got := s.Unshown(); !slices.Equal(got, c.unshown) {
			t.Errorf("%s: unshown %v, want %v", c.what, got, c.unshown)
		}
		if got := s.Shown(); !slices.Equal(got, c.carried) {
			t.Errorf("%s: shown %v, want %v", c.what, got, c.carried)
		}
		if want := c.state == Pending || c.state == Delivered; (len(s.OfJob(j1)) == 1) != want {
			t.Errorf("%s: of the job %v", c.what, s.OfJob(j1))
		}
	}
}

// A known identity is never armed, shown or settled twice.
func TestRefusesWhatCannotFollow(t *testing.T) {
	consumed := Consumed{IDs: []string{n1}, By: ByTurn}
	for what, steps := range map[string][]Event{
		"armed twice":                 {armed1, armed1},
		"armed again when shown":      {armed1, shown{n1}, armed1},
		"armed again when consumed":   {armed1, consumed, armed1},
		"armed after settled inline":  {SettledInline{j1}, armed1},
		"settled inline after armed":  {armed1, SettledInline{j1}},
		"settled inline twice":        {SettledInline{j1}, SettledInline{j1}},
		"consumed but never armed":    {consumed},
		"consumed twice":              {armed1, consumed, consumed},
		"shown but never armed":       {shown{n1}},
		"shown twice":                 {armed1, shown{n1}, shown{n1}},
		"shown when consumed":         {armed1, consumed, shown{n1}},
		"one known, one not":          {armed1, Consumed{IDs: []string{n1, n2}}},
		"an event of another package": {stranger{}},
	} {
		s := New()
		last := len(steps) - 1
		if err := apply(&s, steps[:last]...); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := apply(&s, steps[last]); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

type stranger struct{}

func (stranger) attention() {}

func (stranger) Kind() string { return "stranger" }

func TestShowGivesFramesInOrder(t *testing.T) {
	s := New()
	if err := apply(&s, armed1, armed2); err != nil {
		t.Fatal(err)
	}
	frames, err := s.Show([]string{n2, n1}, 0)
	if err != nil || !slices.Equal(frames, []string{"<two>", "<one>"}) {
		t.Errorf("frames %v, %v", frames, err)
	}
}

func TestStoredForm(t *testing.T) {
	for _, c := range []struct {
		e    Event
		want string
	}{
		{armed1, `{"attention_id":"` + string(j1) + `/1","job_id":"` + string(j1) + `","terminal_generation":1,"frame":"\u003cone\u003e"}`},
		{Consumed{[]string{n1}, ByTurn}, `{"attention_ids":["` + n1 + `"],"by":"turn"}`},
		{Consumed{[]string{n1}, ByStatus}, `{"attention_ids":["` + n1 + `"],"by":"status"}`},
		{SettledInline{j1}, `{"job_id":"` + string(j1) + `"}`},
	} {
		if b, _ := json.Marshal(c.e); string(b) != c.want {
			t.Errorf("%s: %s", c.e.Kind(), b)
		}
	}
}
