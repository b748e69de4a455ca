package model

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// Trace writes what goes to a model and what comes back, as it went over the
// wire, to a file: a line of JSON a fact. docs/trace.md describes the lines. A
// nil Trace writes nothing.
type Trace struct {
	mu   sync.Mutex
	f    *os.File
	dead bool // a line could not be written: nothing more is
	warn func(string)
}

// OpenTrace opens a trace for appending. It holds the whole conversation, so
// a file that others may read is refused.
func OpenTrace(path string) (*Trace, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600) // a pipe without a reader would wait
	if err != nil {
		return nil, err
	}
	t := &Trace{f: f, warn: func(string) {}}
	if err := t.fit(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

func (t *Trace) fit(path string) error {
	info, err := t.f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s may be read by others (mode %#o): chmod 600 it, or name another file", path, info.Mode().Perm())
	case info.Size() == 0:
		return nil
	}
	// A line that was cut short must not swallow the next one.
	r, err := os.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	last := make([]byte, 1)
	if _, err := r.ReadAt(last, info.Size()-1); err != nil && err != io.EOF {
		return err
	}
	if last[0] != '\n' {
		_, err = t.f.WriteString("\n")
	}
	return err
}

// Warn names who is told when the trace ends early; before the first request.
func (t *Trace) Warn(f func(string)) {
	if t != nil {
		t.warn = f
	}
}

// Close closes the file.
func (t *Trace) Close() error {
	if t == nil {
		return nil
	}
	return t.f.Close()
}

// write adds a line. The first that fails is the last: the run goes on without.
func (t *Trace) write(line any) {
	b, err := encode(line)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead {
		return
	}
	if err == nil {
		_, err = t.f.Write(append(b, '\n'))
	}
	if err != nil {
		t.dead = true
		t.warn(fmt.Sprintf("the trace ends here, the run goes on: %v", err))
	}
}

// The lines of a trace. Every one has what traceLine has.
type (
	traceLine struct {
		At      string `json:"at"`
		Event   string `json:"event"`
		Request string `json:"request_id"`
		Attempt int    `json:"attempt"`
	}
	traceRequest struct {
		traceLine
		Session string            `json:"session_id,omitempty"`
		Number  int64             `json:"request,omitempty"`
		Model   string            `json:"model"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
		Command []string          `json:"command,omitempty"`
		Body    json.RawMessage   `json:"body,omitempty"`
		Text    string            `json:"body_text,omitempty"`
	}
	traceAnswer struct {
		traceLine
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
	}
	traceData struct {
		traceLine
		Stream string `json:"stream,omitempty"`
		Text   string `json:"text,omitempty"`
		Base64 string `json:"base64,omitempty"`
	}
	traceEnd struct {
		traceLine
		MS     int64  `json:"ms"`
		Error  string `json:"error,omitempty"`
		Code   *int   `json:"exit_code,omitempty"`
		Signal string `json:"signal,omitempty"`
	}
)

// exchange is one request of a caller with all its attempts.
type exchange struct {
	t     *Trace
	c     Config
	scrub scrubber
	model string
	id    string
	r     Request
	n     int // attempts begun
}

func (t *Trace) exchange(c Config, scrub scrubber, model string, r Request) *exchange {
	if t == nil {
		return nil
	}
	var id [6]byte
	rand.Read(id[:]) // never fails
	return &exchange{t: t, c: c, scrub: scrub, model: model, id: hex.EncodeToString(id[:]), r: Request{Session: r.Session, Number: r.Number}}
}

// traced is one attempt. Its methods may be called on nil.
type traced struct {
	x       *exchange
	n       int
	begun   time.Time
	pending []byte // of the body: the line that is not whole yet, as a secret could stand across two reads
	code    *int   // of a command
	signal  string
}

func (a *traced) line(event string) traceLine {
	return traceLine{At: time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), Event: event, Request: a.x.id, Attempt: a.n}
}

func (x *exchange) begin(body []byte, more func(*traceRequest)) *traced {
	if x == nil {
		return nil
	}
	x.n++
	a := &traced{x: x, n: x.n, begun: time.Now()}
	l := traceRequest{traceLine: a.line("request"), Session: x.r.Session, Number: x.r.Number, Model: x.model}
	if clean := x.scrub.r.Replace(string(body)); json.Valid([]byte(clean)) {
		l.Body = json.RawMessage(clean)
	} else {
		l.Text = strings.ToValidUTF8(clean, "\ufffd")
	}
	more(&l)
	x.t.write(l)
	return a
}

// http begins an attempt over HTTP.
func (x *exchange) http(req *http.Request, body []byte) *traced {
	return x.begin(body, func(l *traceRequest) {
		l.URL, l.Headers = x.scrub.r.Replace(req.URL.Redacted()), x.headers(req.Header)
	})
}

// exec begins an attempt by a command.
func (x *exchange) exec(argv []string, body []byte) *traced {
	return x.begin(body, func(l *traceRequest) {
		for _, w := range argv {
			l.Command = append(l.Command, x.scrub.r.Replace(w))
		}
	})
}

// secretHeaders are never written, whatever they hold; nor are those that the
// configuration sets, and what is known to be a secret is taken out of all others.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "Api-Key"}

func (x *exchange) headers(h http.Header) map[string]string {
	out := map[string]string{}
	for k, v := range h {
		out[k] = x.scrub.r.Replace(strings.ToValidUTF8(strings.Join(v, ", "), "\ufffd"))
	}
	for _, k := range slices.Concat(secretHeaders, slices.Collect(maps.Keys(x.c.Headers))) {
		if k = http.CanonicalHeaderKey(k); h[k] != nil {
			out[k] = "[secret]"
		}
	}
	return out
}

// answered is told the head of an answer, and gives the body to read in its place.
func (a *traced) answered(resp *http.Response) io.Reader {
	if a == nil {
		return resp.Body
	}
	a.x.t.write(traceAnswer{a.line("answer"), resp.StatusCode, a.x.headers(resp.Header)})
	return &tracedBody{a, resp.Body}
}

// tracedBody writes down what is read through it.
type tracedBody struct {
	a *traced
	r io.Reader
}

func (b *tracedBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	a := b.a
	a.pending = append(a.pending, p[:n]...)
	if i := bytes.LastIndexByte(a.pending, '\n'); i >= 0 {
		a.data("", a.pending[:i+1])
		a.pending = append(a.pending[:0], a.pending[i+1:]...)
	}
	return n, err
}

func (a *traced) data(stream string, b []byte) {
	if a == nil || len(b) == 0 {
		return
	}
	l := traceData{traceLine: a.line("data"), Stream: stream}
	clean := a.x.scrub.r.Replace(string(b))
	if utf8.ValidString(clean) {
		l.Text = clean
	} else {
		l.Base64 = base64.StdEncoding.EncodeToString([]byte(clean))
	}
	a.x.t.write(l)
}

// ran is told what a command wrote and how it ended.
func (a *traced) ran(r Ran) {
	if a == nil {
		return
	}
	a.data("stdout", r.Stdout)
	a.data("stderr", r.Stderr)
	a.code, a.signal = &r.Code, r.Signal
}

// end is told how the attempt came out.
func (a *traced) end(failed *failure, err error) {
	if a == nil {
		return
	}
	a.data("", a.pending)
	l := traceEnd{traceLine: a.line("end"), MS: time.Since(a.begun).Milliseconds(), Code: a.code, Signal: a.signal}
	switch {
	case err != nil:
		l.Error = a.x.scrub.clean(err.Error())
	case failed != nil:
		l.Error = failed.err.Error()
	}
	a.x.t.write(l)
}
