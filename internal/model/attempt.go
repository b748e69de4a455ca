package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

const (
	errorBodyMax = 64 << 10
	replyMax     = 64 << 20
	// tailLimit is how long a reply that has its finish reason is waited on for usage and the end mark.
	tailLimit = 5 * time.Second
	// drainLimit is how long a finished stream may take to close, so that its connection can be used again.
	drainLimit = 100 * time.Millisecond
)

// watch ends a request that stays silent. There is no limit in total: a local
// model may think for an hour.
type watch struct {
	timer *time.Timer
	cause atomic.Pointer[error]
	limit time.Duration
}

func newWatch(limit time.Duration, cancel context.CancelCauseFunc) *watch {
	w := &watch{limit: limit}
	w.cause.Store(&errNoAnswer)
	w.timer = time.AfterFunc(limit, func() { cancel(*w.cause.Load()) })
	return w
}

// expect sets what the silence is called; the watch starts anew.
func (w *watch) expect(cause *error) {
	w.cause.Store(cause)
	w.timer.Reset(w.limit)
}

// settle bounds the rest of a reply that is complete; its bytes do not rewind the watch.
func (w *watch) settle(limit time.Duration) {
	w.cause.Store(&errSettled)
	w.limit = 0
	w.timer.Reset(limit)
}

// watched is a body that rewinds the watch with every byte.
type watched struct {
	r io.Reader
	w *watch
}

func (r watched) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 && r.w.limit > 0 {
		r.w.timer.Reset(r.w.limit)
	}
	return n, err
}

// attempt sends the request once and reads the whole reply.
func (m *openai) attempt(parent context.Context, x *exchange, body []byte, stream bool, progress func(int64)) (b *builder, f *failure) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	w := newWatch(m.c.IdleTimeout, cancel)
	defer w.timer.Stop()
	req, err := m.request(ctx, http.MethodPost, m.address.JoinPath("chat", "completions").String(), body)
	if err != nil {
		return nil, &failure{err: m.scrub.faultf(BadRequest, 0, "%s: %v", m.where, err)}
	}
	if _, set := m.c.Headers["Accept"]; stream && !set {
		req.Header.Set("Accept", "text/event-stream")
	}
	a := x.http(req, body)
	defer func() { a.end(f, nil) }()
	resp, err := m.client.Do(req)
	if err != nil {
		return nil, m.unsent(ctx, err)
	}
	defer resp.Body.Close()
	w.expect(&errStalled)
	r := bufio.NewReaderSize(watched{a.answered(resp), w}, 32<<10)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, m.refused(ctx, resp, r)
	}
	return m.read(ctx, r, w, progress)
}

// read takes a stream or a plain answer, whichever came: some servers ignore the wish.
func (m *openai) read(ctx context.Context, r *bufio.Reader, w *watch, progress func(int64)) (*builder, *failure) {
	first, err := firstByte(r)
	if err != nil {
		return nil, m.brokenOff(ctx, err)
	}
	switch first {
	case '{':
		return m.readPlain(ctx, r, progress)
	case '<':
		text, _ := io.ReadAll(io.LimitReader(r, errorBodyMax))
		f := &failure{err: m.scrub.faultf(Protocol, 200, "%s: the answer is a web page (%s)", m.where, plainText(string(text)))}
		f.err.Hint = m.wrongPath()
		return nil, f
	}
	return m.readStream(ctx, r, w, progress)
}

// firstByte skips the byte order mark and the empty lines that some gateways send to keep a connection alive.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		c, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch c {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf:
			continue
		}
		return c, r.UnreadByte()
	}
}

func (m *openai) readPlain(ctx context.Context, r io.Reader, progress func(int64)) (*builder, *failure) {
	raw, err := io.ReadAll(io.LimitReader(r, m.replyMax+1))
	switch {
	case err != nil:
		return nil, m.brokenOff(ctx, err)
	case int64(len(raw)) > m.replyMax:
		return nil, m.endless()
	}
	b := &builder{}
	if f := m.take(b, raw, false); f != nil {
		return nil, f
	}
	if !b.begun {
		return nil, m.noChoices(raw)
	}
	progress(b.size)
	return b, nil
}

// noChoices is a JSON answer without a reply. One that does not even name
// choices is none of a model server.
func (m *openai) noChoices(raw []byte) *failure {
	f := &failure{err: m.scrub.faultf(Protocol, 200, "%s: the answer has no choices: %s", m.where, raw), again: true}
	var top map[string]json.RawMessage
	err := json.Unmarshal(raw, &top)
	if _, ok := top["choices"]; err == nil && !ok {
		f.again = false
		f.err.Hint = m.noServer()
	}
	return f
}

func (m caller) noServer() string {
	return "what answers there is no server of chat completions: check " + m.c.addressKey()
}

// readStream reads to the end mark. An end without the mark and without a
// finish reason is a broken connection, however orderly it was closed.
func (m *openai) readStream(ctx context.Context, r *bufio.Reader, w *watch, progress func(int64)) (*builder, *failure) {
	b, es := &builder{}, newEvents(r)
	for {
		ev, err := es.next()
		switch {
		case errors.Is(err, errEventTooLong):
			return nil, m.endless()
		case err == io.EOF && !es.any && es.text != "":
			f := &failure{err: m.scrub.faultf(Protocol, 200, "%s: the answer is no stream of events: %s", m.where, es.text)}
			f.err.Hint = m.noServer()
			return nil, f
		case err != nil && b.finish != "" && settled(ctx): // only the end mark and perhaps the usage are missing
			return b, nil
		case err != nil:
			return nil, m.brokenOff(ctx, err)
		case string(ev.data) == "[DONE]":
			if !b.begun {
				return nil, &failure{err: m.scrub.faultf(Protocol, 200, "%s: the stream ended without a reply", m.where), again: true}
			}
			w.settle(drainLimit)
			_, _ = io.Copy(io.Discard, io.LimitReader(r, errorBodyMax)) // the reply is whole, whatever happens now
			return b, nil
		}
		if f := m.take(b, ev.data, ev.fault); f != nil {
			return nil, f
		}
		if b.size > m.replyMax {
			return nil, m.endless()
		}
		if b.finish != "" && w.limit > 0 {
			w.settle(min(tailLimit, m.c.IdleTimeout))
		}
		progress(b.size)
	}
}

// settled tells whether the caller still wants a reply that is complete.
func settled(ctx context.Context) bool {
	return ctx.Err() == nil || context.Cause(ctx) == errSettled
}

// take adds one JSON document to the reply, unless it is an error.
func (m *openai) take(b *builder, raw []byte, fault bool) *failure {
	if len(bytes.TrimSpace(raw)) == 0 && !fault {
		return nil
	}
	var c chunk
	err := json.Unmarshal(raw, &c)
	if fault || err == nil && (len(c.Error) > 0 && !isNull(c.Error) || c.Object == "error") {
		return m.failed("HTTP", 200, nil, parseAnswer(raw))
	}
	if err != nil {
		return &failure{err: m.scrub.faultf(Protocol, 200, "%s: a part of the answer is no JSON of a chat completion (%v): %s", m.where, err, raw), again: true}
	}
	b.add(c)
	switch b.finish {
	case "error", "abort", "network_error": // the server gave up on it, without an error object
		return &failure{err: m.scrub.faultf(Broken, 200, "%s: the server ended the reply with finish reason %s", m.where, b.finish), again: true}
	}
	return nil
}

func (m *openai) endless() *failure {
	return &failure{err: m.scrub.faultf(Protocol, 200, "%s: the reply is longer than %d MiB, or one event of it longer than %d MiB", m.where, m.replyMax>>20, eventMax>>20)}
}

// refused classifies an answer with another status than 200.
func (m *openai) refused(ctx context.Context, resp *http.Response, r io.Reader) *failure {
	if resp.StatusCode < 400 {
		to := "elsewhere"
		if u, err := url.Parse(resp.Header.Get("Location")); err == nil && u.Host != "" {
			to = "to " + u.Scheme + "://" + u.Host + u.Path
		}
		f := &failure{err: m.scrub.faultf(Protocol, resp.StatusCode, "%s: HTTP %d points %s, which is not followed", m.where, resp.StatusCode, to)}
		f.err.Hint = "set " + m.c.addressKey() + " to the place that answers"
		return f
	}
	text, err := io.ReadAll(io.LimitReader(r, errorBodyMax))
	if err != nil && ctx.Err() != nil && len(text) == 0 {
		return m.brokenOff(ctx, err)
	}
	return m.failed("HTTP", resp.StatusCode, resp.Header, parseAnswer(text))
}

// brokenOff classifies an answer that began and did not come to its end.
func (m *openai) brokenOff(ctx context.Context, err error) *failure {
	switch cause := context.Cause(ctx); {
	case cause == errStalled, cause == errNoAnswer:
		return m.silent(cause)
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return &failure{err: m.scrub.faultf(Broken, 200, "%s: the answer ended before it was complete", m.where), again: true}
	}
	return &failure{err: m.scrub.faultf(Broken, 200, "%s: the answer broke off: %v", m.where, reason(err)), again: true}
}

// silent is a limit that ran out. An answer that stopped is tried again, as a
// connection may be dead; one that never began is not: the server is busy
// with it, and would only begin anew.
func (m caller) silent(cause error) *failure {
	f := &failure{err: m.scrub.faultf(Timeout, 0, "%s: %v within %s", m.where, cause, m.c.IdleTimeout), again: cause == errStalled}
	f.err.Hint = "raise " + m.c.key("model_idle_timeout_ms") + " if the server needs longer"
	return f
}
