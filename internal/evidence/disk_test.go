package evidence

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/text"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// From the disk a conversation reads as from the memory of who has it open, also
// where most of it is passed over, and a branch of it as well.
func TestReadSession(t *testing.T) {
	dir := t.TempDir()
	h := store.Home{Project: dir, Sessions: dir + "/sessions"}
	st, err := store.Create(h, talk, "test", "boot")
	if err != nil {
		t.Fatal(err)
	}
	step := int64(0)
	line := func(events ...session.Event) {
		step++
		if err := st.Append([]tree.Write{{Session: talk, Step: step, At: begin, Cause: []byte(`{"kind":"test"}`), Events: events}}); err != nil {
			t.Fatal(err)
		}
	}
	line(session.Created{Session: talk, Root: talk, Dir: dir}, session.ContextSet{Model: "x/y", System: "s", Tools: []byte("[]")}, session.RunStarted{Run: 1, Mode: session.Living})
	rnd := rand.New(rand.NewPCG(3, 4))
	request := int64(0)
	for turn := int64(1); turn <= 120; turn++ {
		events := []session.Event{session.TurnStarted{Turn: turn, Type: session.UserTurn}, transcript.UserSaid{Turn: turn, Text: strings.Repeat("\"", rnd.IntN(450)), Input: strings.Repeat("z", 5000)}}
		for i := range rnd.IntN(max(1, 30-int(turn))) {
			request++
			call := fmt.Sprint("c", request)
			events = append(events, session.Requested{Turn: turn, Request: request},
				transcript.AssistantSaid{Turn: turn, Request: request, Finish: "tool_calls", Calls: []transcript.Call{{ID: call, Name: "shell", Arguments: "{}"}}},
				transcript.Answered{Call: call, Name: "shell", Text: []string{"", "\"text\":\"" + strings.Repeat("\u2028", i)}[rnd.IntN(2)], Data: text.Encode(strings.Repeat("\x01", rnd.IntN(i*100+1)))})
		}
		request++
		line(append(events, session.Requested{Turn: turn, Request: request},
			transcript.AssistantSaid{Turn: turn, Request: request, Text: "ok", Finish: "stop"},
			session.TurnEnded{Turn: turn, Outcome: session.TurnAnswered, Answer: true})...)
	}
	line(session.RunEnded{Run: 1, Outcome: session.RunAnswered})
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	branch := numbered(1)
	begun, _, err := store.Fork(h, session.Created{Session: branch, Root: branch, Dir: dir}, store.Copy{From: talk, How: session.ResumeWith, Step: 1}, "test", "boot")
	if err != nil {
		t.Fatal(err)
	}
	if err := begun.Close(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []id.Session{talk, branch} {
		state, err := store.LoadSession(h, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, room := range []int{1000, 24_000, 300_000} {
			r := Reader{Home: h, MaxChars: room}
			for _, rng := range []string{"", "last:1", "last:40", "start:3", "start:999", "60-90", "120-130", "expand"} {
				a := session.ReadTranscriptCall{Range: &rng}
				switch rng {
				case "":
					a.Range = nil
				case "expand":
					a = session.ReadTranscriptCall{ExpandTurn: ptr(int64(77))}
				}
				want, _ := r.ReadConversation(ConversationOf(state), a)
				got, refusal := r.ReadSession(t.Context(), s, a)
				if refusal != nil || !bytes.Equal(got, want) || len(want) == 0 {
					t.Errorf("%s, %q in %d: %v, %.600s\n--- want\n%.600s", s, rng, room, refusal, got, want)
				}
			}
		}
	}
}
