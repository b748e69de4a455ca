package store

import (
	"reflect"
	"strings"
	"testing"

	"evener/internal/attention"
	"evener/internal/session"
	"evener/internal/transcript"
)

// A conversation that is read entry by entry is the one that the fold has, also
// with what another session said and with bodies that stand aside.
func TestConverse(t *testing.T) {
	k := newTalk(t)
	k.say(session.ContextSet{Model: "a/b", System: "s", Tools: []byte("[]")})
	k.ask(1, 1, "first")
	k.say(reply(1, 1, "I look", transcript.Call{ID: "c1", Name: "shell", Arguments: "{}"}),
		transcript.Answered{Call: "c1", Name: "shell", Text: strings.Repeat("Zebra ", 1<<18)}, session.Requested{Turn: 1, Request: 2})
	k.say(reply(1, 2, "done"), session.TurnEnded{Turn: 1, Outcome: session.TurnAnswered, Answer: true})
	k.say(attention.DelegateArmed{ID: "n1", Delegate: "dlg_" + "01JDYH3M00041061050R3GG28C", Class: attention.Report, Frame: "<told>"})
	k.say(session.TurnStarted{Turn: 2, Type: session.NotificationTurn}, session.Requested{Turn: 2, Request: 3, Attention: []string{"n1"}})
	k.say(reply(2, 3, "Heard", transcript.Call{ID: "c2", Name: "shell", Arguments: "{}"}), transcript.Answered{Call: "c2", Name: "shell", Data: []byte(`{"a":1}`)}, session.Requested{Turn: 2, Request: 4})
	k.say(reply(2, 4, "end"), session.TurnEnded{Turn: 2, Outcome: session.TurnAnswered, Answer: true})
	k.say(session.RunEnded{Run: 1, Outcome: session.RunAnswered})
	if _, _, err := k.fork(copyID, sourceID, WholeTurns); err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct {
		id    string
		turns []int64
	}{{string(sourceID), []int64{1, 1, 1, 1, 2, 2, 2, 2}}, {string(copyID), []int64{1, 1, 1, 1, 2, 2, 2, 2}}} {
		who := sourceID
		if s.id == string(copyID) {
			who = copyID
		}
		state, err := LoadSession(k.home, who)
		if err != nil {
			t.Fatal(err)
		}
		var all, some []transcript.Entry
		var turns, found []int64
		talk, err := k.home.Converse(t.Context(), who, nil, func(_ *Talk, e transcript.Entry, turn int64) error {
			all, turns = append(all, e), append(turns, turn)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(all, state.Transcript.Entries) || !reflect.DeepEqual(turns, s.turns) {
			t.Errorf("%s: %d entries of turns %v, the fold has %d", who, len(all), turns, len(state.Transcript.Entries))
		}
		if talk.Session != who || talk.Turns != state.Turns || who == sourceID && (talk.Model != "a/b" || talk.Run != string(session.RunAnswered)) {
			t.Errorf("%+v", talk)
		}
		// What is passed over takes no turn away.
		_, err = k.home.Converse(t.Context(), who, func(w Words) bool { return w.Aside && w.Turn == 1 }, func(_ *Talk, e transcript.Entry, turn int64) error {
			if some = append(some, e); e.Role == transcript.Tool {
				found = append(found, turn)
			}
			return nil
		})
		if want := []int64{1}; who == sourceID && (err != nil || len(some) != 2 || !reflect.DeepEqual(found, want)) { // notices are always told
			t.Errorf("%v, %d entries, results of turns %v", err, len(some), found)
		}
		_, err = k.home.Converse(t.Context(), who, nil, func(_ *Talk, e transcript.Entry, turn int64) error { return ErrEnough })
		if err != nil {
			t.Error(err)
		}
	}
}
