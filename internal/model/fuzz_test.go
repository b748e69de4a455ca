package model

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func seeds(f *testing.F) {
	f.Helper()
	names, err := filepath.Glob("testdata/*/*.*")
	if err != nil || len(names) < 30 {
		f.Fatalf("%d fixtures, %v", len(names), err)
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

func readEvents(r io.Reader) (all []string, err error) {
	es := newEvents(bufio.NewReaderSize(r, 16))
	for {
		ev, err := es.next()
		if err != nil {
			return all, err
		}
		all = append(all, string(ev.data))
	}
}

// FuzzStream: any bytes, in any pieces, give the same events, and a reply that
// keeps its promises: ids are there and unique, and what may run has an object for arguments.
func FuzzStream(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err1 := readEvents(strings.NewReader(string(in)))
		bytewise, err2 := readEvents(iotest.OneByteReader(strings.NewReader(string(in))))
		if err1 != io.EOF || err2 != io.EOF || strings.Join(whole, "\x00") != strings.Join(bytewise, "\x00") {
			t.Fatalf("%q (%v) in one piece, %q (%v) in bytes", whole, err1, bytewise, err2)
		}
		b := &builder{}
		for _, ev := range append(whole, string(in)) {
			var c chunk
			if json.Unmarshal([]byte(ev), &c) == nil {
				b.add(c)
			}
		}
		keeps(t, b.reply(map[string]bool{"taken": true}))
	})
}

func keeps(t *testing.T, r Reply) {
	t.Helper()
	unique(t, r.Calls)
	ms := []Message{r.Message()}
	for _, c := range r.Calls {
		if c.ID == "taken" {
			t.Error("an id of the history was used again")
		}
		var args map[string]json.RawMessage
		if c.Broken == "" && (c.Name == "" || c.Arguments != "" && json.Unmarshal([]byte(c.Arguments), &args) != nil) {
			t.Errorf("this call must not run: %+v", c)
		}
		ms = append(ms, result(c.ID, "done"))
	}
	if (r.Finish == FinishCalls) != (len(r.Calls) > 0) && r.Finish != FinishLength && r.Finish != FinishFilter {
		t.Errorf("finish %s with %d calls", r.Finish, len(r.Calls))
	}
	if err := Check(ms); err != nil {
		t.Error(err)
	}
	body, err := Config{}.withDefaults().body("n", Request{Messages: ms}, true)
	if err != nil || !json.Valid(body) {
		t.Errorf("the next request cannot be written: %v", err)
	}
}

// FuzzErrorBody: whatever an endpoint answers becomes one bounded line without the key.
func FuzzErrorBody(f *testing.F) {
	seeds(f)
	const key = "sk-very-secret"
	f.Add([]byte(strings.Repeat("x", 395) + key))
	s := newScrubber([]string{key})
	f.Fuzz(func(t *testing.T, in []byte) {
		e := s.faultf(BadRequest, 400, "%s", parseAnswer(in).text)
		if strings.Contains(e.Text, key) || strings.ContainsAny(e.Text, "\r\n\x00\x1b") || len(e.Text) > 4*lineMax+4 {
			t.Errorf("got %q", e.Text)
		}
	})
}

// FuzzScript: any file is a script or one line that says why not.
func FuzzScript(f *testing.F) {
	f.Add([]byte(`{"conversations":[{"name":"a","first_user":"x","replies":[{"text":"${a}","capture":["(?P<a>.)"],"calls":[{"name":"n","arguments":{"a":1}}],"error":{"status":500}}],"matches":[{"match":"."}]}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if _, err := parseScript("s", in); err != nil && !strings.HasPrefix(err.Error(), "s:") {
			t.Errorf("no place in %q", err)
		}
	})
}

// FuzzOffers: any answer of an endpoint to what it offers is a list of named models, or none.
func FuzzOffers(f *testing.F) {
	f.Add([]byte(`{"data":[{"id":"a","meta":{"n_ctx_train":1e3}},{"id":""},3,null,"b"]}`))
	f.Add([]byte(`{"models":[{"name":"a","status":{"value":"loaded"},"loaded_instances":[{"config":{"context_length":"9"}}]}]}`))
	f.Add([]byte(`["a",{"id":7}]`))
	seeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		offers, ok := readOffers(raw)
		if !ok && len(offers) > 0 {
			t.Errorf("%q is none and offers %v", raw, offers)
		}
		for _, o := range offers {
			if o.Name == "" || o.Context < 0 {
				t.Errorf("%q offers %+v", raw, o)
			}
		}
	})
}
