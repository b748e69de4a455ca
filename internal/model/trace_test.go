package model

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func traceFile(t *testing.T) (*Trace, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	tr, err := OpenTrace(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr, path
}

func traceLines(t *testing.T, path string) (out []map[string]any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var m map[string]any
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			t.Fatalf("%v: %s", err, s.Bytes())
		}
		out = append(out, m)
	}
	return out
}

// pieces gives one piece a read.
type pieces []string

func (p *pieces) Read(b []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(b, (*p)[0])
	*p = (*p)[1:]
	return n, nil
}

// A secret that arrives in two pieces is taken out all the same; what came is
// written up to the point where it broke off, whatever bytes it has.
func TestTraceOfPieces(t *testing.T) {
	tr, path := traceFile(t)
	const key = "sk-0123456789"
	x := tr.exchange(Config{Headers: map[string]string{"x-team": "abc"}}, newScrubber([]string{key}), "openai/m", Request{Session: "s", Number: 3})
	req, _ := http.NewRequest("POST", "http://u:"+key+"@h/v1?k="+key, nil)
	req.Header.Set("Authorization", "Bearer x")
	req.Header.Set("X-Team", "abc")
	a := x.http(req, []byte(`{"a":"`+key+`"}`))
	body := a.answered(&http.Response{StatusCode: 200, Header: http.Header{"Set-Cookie": {"c=1"}, "X-Echo": {key}},
		Body: io.NopCloser(&pieces{"data: 1\ndata: sk-012", "3456789 \n", "half \xff"})})
	if _, err := io.ReadAll(body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	a.end(&failure{err: &Error{Text: "it broke off"}}, nil)
	x.begin([]byte("no JSON\xff"), func(*traceRequest) {}).end(nil, errors.New("said "+key))

	lines := traceLines(t, path)
	var got []string
	for _, l := range lines {
		delete(l, "at")
		delete(l, "request_id")
		delete(l, "ms")
		b, _ := encode(l)
		got = append(got, string(b))
	}
	want := []string{
		`{"attempt":1,"body":{"a":"[secret]"},"event":"request","headers":{"Authorization":"[secret]","X-Team":"[secret]"},"model":"openai/m","request":3,"session_id":"s","url":"http://u:xxxxx@h/v1?k=[secret]"}`,
		`{"attempt":1,"event":"answer","headers":{"Set-Cookie":"[secret]","X-Echo":"[secret]"},"status":200}`,
		`{"attempt":1,"event":"data","text":"data: 1\n"}`,
		`{"attempt":1,"event":"data","text":"data: [secret] \n"}`,
		`{"attempt":1,"base64":"aGFsZiD/","event":"data"}`,
		`{"attempt":1,"error":"it broke off","event":"end"}`,
		`{"attempt":2,"body_text":"no JSON` + "\ufffd" + `","event":"request","model":"openai/m","request":3,"session_id":"s"}`,
		`{"attempt":2,"error":"said [secret]","event":"end"}`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Without a trace nothing is written, and nothing has to be asked.
func TestNoTrace(t *testing.T) {
	var tr *Trace
	tr.Warn(nil)
	x := tr.exchange(Config{}, newScrubber(nil), "m", Request{})
	a := x.exec(nil, nil)
	a.ran(Ran{})
	a.end(nil, nil)
	body := io.NopCloser(strings.NewReader("x"))
	if got := a.answered(&http.Response{Body: body}); got != io.Reader(body) {
		t.Error("the body is read through something")
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
}

// Many requests at once, over two handles, give whole lines.
func TestTraceOfMany(t *testing.T) {
	one, path := traceFile(t)
	two, err := OpenTrace(path)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			tr := []*Trace{one, two}[i%2]
			for range 50 {
				tr.exchange(Config{}, newScrubber(nil), "m", Request{}).begin([]byte(`"`+strings.Repeat("x", 3000)+`"`), func(*traceRequest) {}).end(nil, nil)
			}
		})
	}
	wg.Wait()
	if n := len(traceLines(t, path)); n != 800 {
		t.Errorf("%d lines", n)
	}
}

// The first line that cannot be written is the last, and is told once.
func TestTraceEndsEarly(t *testing.T) {
	tr, path := traceFile(t)
	var told []string
	tr.Warn(func(s string) { told = append(told, s) })
	a := tr.exchange(Config{}, newScrubber(nil), "m", Request{}).begin([]byte("{}"), func(*traceRequest) {})
	tr.f.Close()
	a.data("", []byte("x"))
	a.end(nil, nil)
	if len(told) != 1 || !strings.HasPrefix(told[0], "the trace ends here, the run goes on: ") {
		t.Error(told)
	}
	if n := len(traceLines(t, path)); n != 1 {
		t.Errorf("%d lines", n)
	}
}

// docs/trace.md names every field.
func TestTraceDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/trace.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []reflect.Type{reflect.TypeFor[traceLine](), reflect.TypeFor[traceRequest](), reflect.TypeFor[traceAnswer](), reflect.TypeFor[traceData](), reflect.TypeFor[traceEnd]()} {
		for i := range x.NumField() {
			name, _, _ := strings.Cut(x.Field(i).Tag.Get("json"), ",")
			if name != "" && !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("%s: %s is not described", x.Name(), name)
			}
		}
	}
}
