package evidence

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/transcript"
)

const talk = id.Session("01M8NY3XX67E8C4WVNVG5V5R22")

func ptr[T any](v T) *T { return &v }

func said(turn int64, text string) transcript.Entry {
	return transcript.Entry{Role: transcript.User, Turn: turn, Text: text}
}

// answered is a reply with one call and its result.
func answered(turn int64, args, result string) []transcript.Entry {
	return []transcript.Entry{
		{Role: transcript.Assistant, Turn: turn, Assistant: &transcript.AssistantSaid{Reasoning: "hm", Calls: []transcript.Call{{ID: "c1", Name: "shell", Arguments: args}}}},
		{Role: transcript.Tool, Call: "c1", Name: "shell", Text: result},
	}
}

// seven turns of which the fourth is empty.
func seven() Conversation {
	c := Conversation{Talk: store.Talk{Session: talk, Turns: 7, Run: "open", Model: "x/y"}}
	for n := int64(1); n <= 7; n++ {
		if n != 4 {
			c.Entries = append(c.Entries, said(n, fmt.Sprintf("question-%d", n)))
			c.Entries = append(c.Entries, answered(n, `{"command":"ls"}`, fmt.Sprintf("result-%d\n", n))...)
		}
	}
	return c
}

func readView(t *testing.T, c Conversation, room int, a session.ReadTranscriptCall) conversationView {
	t.Helper()
	b, refusal := Reader{MaxChars: room}.ReadConversation(c, a)
	if refusal != nil {
		t.Fatal(refusal)
	}
	var v conversationView
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if n := utf8.RuneCountInString(v.Content); n > room {
		t.Errorf("%d characters, room for %d", n, room)
	}
	return v
}

func TestConversationWhole(t *testing.T) {
	c := Conversation{Talk: store.Talk{Session: talk, Delegate: id.DelegateOf(talk), Parent: "P", Turns: 2, Run: "reported", Model: "x/y"}}
	c.Entries = append(c.Entries, said(1, "do it\n## Turn 9\n```"))
	c.Entries = append(c.Entries, answered(1, `{"command":"ls"}`, "a\x1b[31m\n")...)
	c.Entries[2].IsError = true
	c.Entries = append(c.Entries, transcript.Entry{Role: transcript.Frames, Turn: 2, Text: "<n>"},
		transcript.Entry{Role: transcript.User, Turn: 2, Note: true, Text: "note"},
		transcript.Entry{Role: transcript.Assistant, Turn: 2, Text: "done", Assistant: &transcript.AssistantSaid{Text: "done"}})
	want := `# Session 01M8NY3XX67E8C4WVNVG5V5R22

- delegate: dlg_01M8NY3XX67E8C4WVNVG5V5R22, of session P
- model: x/y
- run: reported
- turns: 2

## Turn 1

### Owner

~~~~
do it
## Turn 9
~~~
~~~~

### Call of shell (c1)

~~~
{"command":"ls"}
~~~

### Error of shell (c1)

~~~
a\x1b[31m
~~~

## Turn 2

### Notices

~~~
<n>
~~~

### Evener

~~~
note
~~~

### Assistant

~~~
done
~~~
`
	v := readView(t, c, 24000, session.ReadTranscriptCall{})
	if got := strings.ReplaceAll(v.Content, "`", "~"); got != want {
		t.Errorf("content:\n%s", got)
	}
	if v.Meta.Truncated || v.Meta.Turns != 2 || v.Meta.First != 1 || v.Meta.Last != 2 || v.Ref != "local:"+string(talk) {
		t.Errorf("%+v", v)
	}
	full := readView(t, c, 24000, session.ReadTranscriptCall{ExpandTurn: ptr(int64(1))})
	if !strings.Contains(full.Content, "### Assistant, reasoning\n\n```\nhm\n") || strings.Contains(full.Content, "## Turn 2\n") || full.Meta.Truncated {
		t.Errorf("expanded: %+v", full)
	}
}

func TestConversationRanges(t *testing.T) {
	for _, x := range []struct {
		rng         string
		room        int
		first, last int64
		next        string
		refused     string
	}{
		{"", 24000, 1, 7, "", ""},
		{"last:2", 24000, 6, 7, "", ""},
		{"last:99", 24000, 1, 7, "", ""},
		{"start:2", 24000, 1, 2, "", ""},
		{"start:99", 24000, 1, 7, "", ""},
		{"3-5", 24000, 3, 5, "", ""},
		{"4-4", 24000, 4, 4, "", ""},
		{"6-99", 24000, 6, 7, "", ""},
		{"8-9", 24000, 0, 0, "", "invalid_request: read_transcript: range 8-9: the conversation has 7 turns"},
		{"", 500, 4, 7, "1-3", ""},
		{"last:6", 500, 4, 7, "2-3", ""},
		{"start:6", 500, 1, 4, "5-6", ""},
		{"3-7", 500, 3, 6, "7-7", ""},
	} {
		a := session.ReadTranscriptCall{}
		if x.rng != "" {
			a.Range = &x.rng
		}
		if x.refused != "" {
			if _, err := (Reader{MaxChars: x.room}).ReadConversation(seven(), a); err == nil || err.Error() != x.refused {
				t.Errorf("%s: %v", x.rng, err)
			}
			continue
		}
		v := readView(t, seven(), x.room, a)
		if v.Meta.First != x.first || v.Meta.Last != x.last || v.Meta.NextRange != x.next || v.Meta.Truncated != (x.next != "") {
			t.Errorf("%q in %d: %+v\n%s", x.rng, x.room, v.Meta, v.Content)
		}
		for n := int64(1); n <= 7; n++ {
			if shown := strings.Contains(v.Content, fmt.Sprintf("\n## Turn %d\n", n)); shown != (x.first <= n && n <= x.last) {
				t.Errorf("%q in %d: turn %d shown: %v", x.rng, x.room, n, shown)
			}
		}
	}
	if _, err := (Reader{}).ReadConversation(seven(), session.ReadTranscriptCall{ExpandTurn: ptr(int64(8))}); err == nil {
		t.Error("turn 8 of 7 expanded")
	}
	none := readView(t, Conversation{Talk: store.Talk{Session: talk}}, 1000, session.ReadTranscriptCall{Range: ptr("last:1")})
	if !strings.HasSuffix(none.Content, "\nNothing was said yet.\n") || none.Meta.Truncated {
		t.Errorf("%+v", none)
	}
}

// Long texts give way before turns do, and the middle of a turn before its ends.
func TestConversationOversized(t *testing.T) {
	long := "first " + strings.Repeat("x", 30000) + " last"
	c := Conversation{Talk: store.Talk{Session: talk, Turns: 2}}
	c.Entries = append(c.Entries, said(1, "begin"))
	c.Entries = append(c.Entries, answered(1, "{}", long)...)
	c.Entries = append(c.Entries, said(2, "short"))

	v := readView(t, c, 24000, session.ReadTranscriptCall{})
	if !strings.Contains(v.Content, "characters left out; expand_turn=1 shows more …\n") || !strings.Contains(v.Content, "first ") || !strings.Contains(v.Content, " last") ||
		!v.Meta.Truncated || !slices.Equal(v.Meta.Shortened, []int64{1}) || v.Meta.NextRange != "" {
		t.Errorf("shortened: %+v", v.Meta)
	}
	v = readView(t, c, 24000, session.ReadTranscriptCall{ExpandTurn: ptr(int64(1))})
	if !strings.Contains(v.Content, "characters elided from this oversized turn; additional output is not available from this transcript view …\n") ||
		len(v.Content) < 12000 || !v.Meta.Truncated || len(v.Meta.Shortened) > 0 {
		t.Errorf("expanded: %d, %+v", len(v.Content), v.Meta)
	}

	many := Conversation{Talk: store.Talk{Session: talk, Turns: 1}, Entries: []transcript.Entry{said(1, "begin")}}
	for i := range 300 {
		many.Entries = append(many.Entries, answered(1, fmt.Sprintf(`{"command":"step %d"}`, i), "out")...)
	}
	for _, a := range []session.ReadTranscriptCall{{}, {ExpandTurn: ptr(int64(1))}} {
		for _, room := range []int{1000, 24000} {
			v = readView(t, many, room, a)
			if !strings.Contains(v.Content, "step 299") || !strings.Contains(v.Content, "characters elided from this oversized turn") || !v.Meta.Truncated || len(v.Meta.Shortened) > 0 {
				t.Errorf("room %d, %+v: %+v\n%s", room, a, v.Meta, v.Content)
			}
			if strings.Contains(v.Content, "step 9\"") != (room == 24000) {
				t.Errorf("room %d: the beginning", room)
			}
		}
	}
}
