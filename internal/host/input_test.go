package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestParseLine(t *testing.T) {
	for _, c := range []struct {
		line string
		want request
		bad  string
	}{
		{`{"prompt":"a"}`, request{prompt: "a"}, ""},
		{" {\"id\" : \"x\",\"prompt\":\"a\\n\\u00e9\\ud83d\\ude00\"} \r\n", request{prompt: "a\né😀", id: "x"}, ""},
		{"\xEF\xBB\xBF{\"prompt\":\"a\"}", request{prompt: "a"}, ""},
		{`{"interrupt":true}`, request{interrupt: true}, ""},
		{`{"interrupt":true,"id":"x"}`, request{interrupt: true, id: "x"}, ""},
		{`{"prompt":""}`, request{}, ""}, // the session refuses it
		// A refusal bears the id, wherever it stands.
		{`{"when":"now","prompt":"a","id":"x"}`, request{prompt: "a", id: "x"}, "unknown field"},
		{`{"id":"x"}`, request{id: "x"}, "neither prompt nor interrupt nor activity"},
		{`{"id":"x","id":"y","prompt":"a"}`, request{prompt: "a", id: "y"}, "given twice"},
		{`{"prompt":"a","interrupt":true}`, request{prompt: "a", interrupt: true}, "a line has one of prompt, interrupt and activity"},
		{`{"prompt":["a"]}`, request{}, `prompt is ["a"]; want a string`},
		{`{"interrupt":1}`, request{}, "interrupt is 1; want true"},
		{`{"interrupt":null}`, request{}, "interrupt is null; want true"},
		{`{"prompt":"a","id":null}`, request{prompt: "a"}, "id is null"},
		{`{"prompt":"a","id":"` + strings.Repeat("é", 101) + `"}`, request{prompt: "a"}, "id is "},
		{`{"prompt":"a","id":"` + strings.Repeat("é", 100) + `"}`, request{prompt: "a", id: strings.Repeat("é", 100)}, ""},
		{`{"prompt":"a"`, request{}, "not valid JSON"},
		{`{"prompt":"a"}x`, request{}, "not valid JSON"},
		{`[{"prompt":"a"}]`, request{}, "no JSON object"},
		{"{\"prompt\":\"\xff\"}", request{}, "not valid UTF-8"},
		{`{"` + strings.Repeat("x", 1000) + `":1}`, request{}, "unknown field"},
		// Half of a surrogate pair is no character, and is not made U+FFFD in silence.
		{`{"id":"x","prompt":"a\ud800b"}`, request{prompt: "a\uFFFDb", id: "x"}, `\ud800 (at byte 22) is half of a surrogate pair`},
		{`{"prompt":"\uDC00\uD800"}`, request{prompt: "\uFFFD\uFFFD"}, `\uDC00 (at byte 12)`},
		{`{"prompt":"\ud83d\u0041"}`, request{prompt: "\uFFFDA"}, `\ud83d (at byte 12)`},
		{`{"prompt":"\ud83d\ude00\ude00"}`, request{prompt: "😀\uFFFD"}, `\ude00 (at byte 24)`},
		{`{"prompt":"\\ud800\\\ud83d\ude00 \ufffd"}`, request{prompt: `\ud800\` + "😀 \uFFFD"}, ""},
		{`{"id":"\ud800","prompt":"a"}`, request{prompt: "a"}, `\ud800 (at byte 8)`},
		{strings.Repeat("[", 100_000), request{}, "not valid JSON"},
	} {
		got, bad := parseLine([]byte(c.line))
		if (bad == "") != (c.bad == "") || !strings.Contains(bad, c.bad) || len(bad) > 200 || strings.Contains(bad, "\n") {
			t.Errorf("%.100q: %q, want %q", c.line, bad, c.bad)
		}
		if got != c.want {
			t.Errorf("%.100q: %+v", c.line, got)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add([]byte(`{"prompt":"a","id":"b"}`))
	f.Add([]byte(`{"interrupt":true}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, bad := parseLine(line)
		if bad == "" && r.interrupt == (r.prompt != "") && r.prompt != "" {
			t.Errorf("%q is both", line)
		}
		if strings.ContainsAny(bad, "\n\r") {
			t.Errorf("%q: %q", line, bad)
		}
	})
}

// Lines come whole, however they arrive; one that is too long is passed over.
func TestLines(t *testing.T) {
	most := strings.Repeat("x", MaxLine)
	in := "one\n\n \t\r\ntwo\r\n" + most + "\n" + most + "y\nthree\n" + most + most + "\nlast"
	want := []string{"1 one\n", "4 two\r\n", fmt.Sprint("5 ", len(most)+1), "6 long", "7 three\n", "8 long", "9 last", "10 EOF"}
	for name, r := range map[string]io.Reader{
		"at once": strings.NewReader(in), "in halves": iotest.HalfReader(strings.NewReader(in)), "with its end": iotest.DataErrReader(strings.NewReader(in)),
	} {
		l := newLines(r)
		for _, w := range want {
			line, err := l.next()
			got := fmt.Sprintf("%d %s", l.n, line)
			switch {
			case errors.Is(err, errLong):
				got = fmt.Sprintf("%d long", l.n)
			case err != nil:
				got = fmt.Sprintf("%d %v", l.n, err)
			case len(line) > 100:
				got = fmt.Sprint(l.n, " ", len(line))
			}
			if got != w {
				t.Errorf("%s: %.100q, want %q", name, got, w)
			}
		}
	}
	// A long line without an end is told once, and an error is not taken for the end.
	l := newLines(io.MultiReader(strings.NewReader(most+"y"), iotest.ErrReader(errors.New("gone"))))
	if _, err := l.next(); err == nil || err.Error() != "gone" {
		t.Errorf("a broken reader: %v", err)
	}
	l = newLines(strings.NewReader(most + "y"))
	_, first := l.next()
	if _, second := l.next(); !errors.Is(first, errLong) || !errors.Is(second, io.EOF) {
		t.Errorf("a long line without an end: %v, %v", first, second)
	}
}

// A read that waits for a pipe ends when it is stopped, and so do later ones.
func TestStoppable(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	s, err := newStoppable(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 10)
	if n, err := s.Read(b); n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Read(b)
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	s.stop()
	if err := <-done; !errors.Is(err, errStopped) {
		t.Errorf("stopped: %v", err)
	}
	if _, err := s.Read(b); !errors.Is(err, errStopped) {
		t.Errorf("read again: %v", err)
	}
	all, err := io.ReadAll(&stoppable{Reader: bytes.NewReader([]byte("abc"))})
	if string(all) != "abc" || err != nil {
		t.Errorf("no file: %q, %v", all, err)
	}
}
