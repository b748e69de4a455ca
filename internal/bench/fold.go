package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"

	"evener/internal/attention"
	"evener/internal/audit"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/transcript"
	"evener/journal"
)

func foldGroups() []group {
	return []group{{name: "fold", sides: foldSides, rows: []row{
		{what: "verify and route 1,000,000 lines", subject: "route", limit: "bare route", limitIs: "split + CRC + hand-parsed envelope", unit: "lines/s", want: ratio("≥", 0.80)},
		{what: "– against encoding/json for the envelope", subject: "route", limit: "json route", limitIs: "split + CRC + encoding/json envelope", unit: "lines/s", want: ratio("≥", 20)},
		{what: "typed fold of 1,000,000 lines", subject: "fold", limit: "bare fold", limitIs: "the same + json.Unmarshal of each event", unit: "lines/s", want: ratio("≥", 0.9)},
		{what: "verify of 1,000,000 lines: framing, hashes, fold, promises", subject: "verify", limit: "fold", limitIs: "the typed fold of the same run", unit: "lines/s", want: ratio("≥", 0.80)},
	}}}
}

func foldSides(e *env) ([]side, error) {
	h, s, err := talkSession(e, e.size(1_000_000, 50_000))
	if err != nil {
		return nil, err
	}
	path := h.Journal(s)
	small := e.size(100_000, 10_000) // encoding/json needs seconds for what others do in one tenth
	return []side{
		lineSide("bare route", func() (int, error) {
			n := 0
			err := eachLine(path, func(l []byte) error {
				kind, data, ok := handEnvelope(l)
				if !ok || !crcRight(l) {
					return errLine
				}
				keep(len(kind) + len(data))
				n++
				return nil
			})
			return n, err
		}),
		lineSide("route", func() (int, error) {
			n := 0
			for entry, err := range journal.Read(path, journal.Pos{}) {
				if err != nil {
					return n, err
				}
				for kind, data := range entry.Events() {
					keep(len(kind) + len(data))
				}
				n++
			}
			return n, nil
		}),
		lineSide("json route", func() (int, error) { return jsonRoute(path, small) }),
		lineSide("bare fold", func() (int, error) { return bareFold(path) }),
		lineSide("fold", func() (int, error) {
			t, err := store.Load(h, s, 0)
			if err != nil {
				return 0, err
			}
			keep(len(t.Session().Transcript.Entries))
			return int(t.Step), nil
		}),
		lineSide("verify", func() (int, error) {
			v := &audit.Verified{}
			if v.Tree(h, s); v.Damaged() || len(v.Journals) != 1 {
				return 0, fmt.Errorf("the input does not verify: %v", v.Findings)
			}
			return int(v.Journals[0].Lines), nil
		}),
	}, nil
}

// keep lets no work be left out because nobody wants its result.
//
//go:noinline
func keep(int) {}

// lineSide times f, which says how many lines it took.
func lineSide(name string, f func() (int, error)) side {
	return side{name, func(*env) (values, error) {
		start := time.Now()
		n, err := f()
		return values{name: float64(n) / time.Since(start).Seconds()}, err
	}}
}

var (
	errLine    = errors.New("a line of the input is not as it should be")
	errEnough  = errors.New("enough")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

const sealLen = len(`,"crc":"01234567"}`)

func crcRight(l []byte) bool {
	const digits = "0123456789abcdef"
	if len(l) < sealLen {
		return false
	}
	c := crc32.Checksum(l[:len(l)-sealLen], castagnoli)
	want := l[len(l)-10 : len(l)-2]
	for i := 7; i >= 0; i-- {
		if want[i] != digits[c&15] {
			return false
		}
		c >>= 4
	}
	return true
}

// handEnvelope finds kind and data of a line with one event, whose parts stand
// where they always stand. It looks at no byte twice and at few once.
func handEnvelope(l []byte) (kind, data []byte, ok bool) {
	for _, key := range []string{`{"seq":`, `,"b":`, `,"step":`} {
		if !bytes.HasPrefix(l, []byte(key)) {
			return nil, nil, false
		}
		l = l[len(key):]
		n := uint64(0)
		for len(l) > 0 && l[0] >= '0' && l[0] <= '9' {
			n = n*10 + uint64(l[0]-'0')
			l = l[1:]
		}
		keep(int(n))
	}
	const at = `,"at":"2006-01-02T15:04:05.000000Z","cause":`
	if len(l) < len(at) {
		return nil, nil, false
	}
	l = l[len(at):]
	i := bytes.IndexByte(l, '}') // causes of the input are flat
	const events = `},"events":[{"kind":"`
	if i < 0 || !bytes.HasPrefix(l[i:], []byte(events)) {
		return nil, nil, false
	}
	l = l[i+len(events):]
	if i = bytes.IndexByte(l, '"'); i < 0 {
		return nil, nil, false
	}
	kind, l = l[:i], l[i:]
	const before = `","data":`
	if !bytes.HasPrefix(l, []byte(before)) {
		return nil, nil, false
	}
	l = l[len(before):]
	end := balanced(l)
	return kind, l[:end], end > 0
}

// balanced finds the end of the object that l begins with: a line may hold
// several events, so where one ends is only known from its brackets.
func balanced(l []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(l); i++ {
		switch c := l[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// eachLine reads with one buffer and shows lines without copying them.
func eachLine(path string, f func([]byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	buf := make([]byte, 1<<20)
	from, to := 0, 0
	for {
		n, err := file.Read(buf[to:])
		to += n
		for {
			i := bytes.IndexByte(buf[from:to], '\n')
			if i < 0 {
				break
			}
			if err := f(buf[from : from+i]); err != nil {
				return err
			}
			from += i + 1
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		to = copy(buf, buf[from:to])
		from = 0
		if to == len(buf) {
			return errLine
		}
	}
}

func jsonRoute(path string, most int) (int, error) {
	n := 0
	err := eachLine(path, func(l []byte) error {
		var e struct {
			Seq, B, Step int64
			At           string
			Cause        json.RawMessage
			Events       []struct {
				Kind string
				Data json.RawMessage
			}
			CRC string
		}
		if !crcRight(l) {
			return errLine
		}
		if err := json.Unmarshal(l, &e); err != nil {
			return err
		}
		for _, ev := range e.Events {
			keep(len(ev.Kind) + len(ev.Data))
		}
		if n++; n == most {
			return errEnough
		}
		return nil
	})
	if err == errEnough {
		err = nil
	}
	return n, err
}

// bareFold decodes each event once, as loosely as encoding/json does by default,
// and keeps nothing.
func bareFold(path string) (int, error) {
	n := 0
	err := eachLine(path, func(l []byte) error {
		kind, data, ok := handEnvelope(l)
		if !ok || !crcRight(l) {
			return errLine
		}
		n++
		d := loose[string(kind)]
		if d == nil {
			if bytes.HasPrefix(kind, []byte("journal.")) || n == 2 || bytes.HasPrefix(kind, []byte("session.")) || bytes.HasPrefix(kind, []byte("run.")) {
				return nil // the few lines around the many
			}
			return fmt.Errorf("no decoder for %s", kind)
		}
		_, err := d(data)
		return err
	})
	return n, err
}

var loose = map[string]func([]byte) (session.Event, error){
	"turn.started": unmarshal[session.TurnStarted], "turn.requested": unmarshal[session.Requested], "turn.ended": unmarshal[session.TurnEnded],
	"transcript.user": unmarshal[transcript.UserSaid], "transcript.assistant": unmarshal[transcript.AssistantSaid],
	"transcript.result": unmarshal[transcript.Answered], "attention.armed": unmarshal[attention.Armed],
	"job.intended": unmarshal[job.Intended], "job.started": unmarshal[job.Started], "job.finished": unmarshal[job.Finished],
}

func unmarshal[E session.Event](data []byte) (session.Event, error) {
	var e E
	err := json.Unmarshal(data, &e)
	return e, err
}
