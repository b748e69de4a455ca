package audit

import (
	"encoding/json"
	"fmt"

	"evener/internal/text"
	"evener/journal"
)

// Held is what the readable lines of a journal tell of: what a session could go
// on with.
type Held struct {
	order []string // what was told of, as it came up
	known map[string]bool
	said  map[string]string // words for it, once they were read
	began map[string]bool   // its first line was read
	ended map[string]bool   // its last one was
}

// HeldBy reads what a journal holds. It must have no damage.
func HeldBy(path string) (Held, error) {
	h := Held{known: map[string]bool{}, said: map[string]string{}, began: map[string]bool{}, ended: map[string]bool{}}
	for e, err := range journal.Read(path, journal.Pos{}) {
		if err != nil {
			return h, err
		}
		for kind, data := range e.Events() {
			h.take(kind, data)
		}
	}
	return h, nil
}

func (h *Held) take(kind string, data []byte) {
	var e struct {
		Turn       int64    `json:"turn_id"`
		Text       string   `json:"text"`
		Job        string   `json:"job_id"`
		Command    string   `json:"command"`
		Notice     string   `json:"attention_id"`
		Notices    []string `json:"attention_ids"`
		Delegate   string   `json:"delegate_id"`
		Generation int64    `json:"generation"`
		Watch      string   `json:"watch_id"`
		Descriptor struct {
			Name string `json:"name"`
		} `json:"descriptor"`
	}
	if json.Unmarshal(data, &e) != nil {
		return // of another shape: none of these
	}
	switch kind {
	case "turn.started", "turn.ended", "transcript.user", "transcript.assistant":
		x := fmt.Sprintf("turn %d", e.Turn)
		h.note(x, kind == "turn.started", kind == "turn.ended")
		if kind == "transcript.user" && h.said[x] == "" {
			h.said[x] = text.Preview(e.Text, 60)
		}
	case "job.intended", "job.started", "job.promoted", "job.stop_requested", "job.finished":
		h.note(e.Job, kind == "job.intended", kind == "job.finished")
		if e.Command != "" {
			h.said[e.Job] = text.Preview(e.Command, 60)
		}
	case "attention.armed", "attention.delegate_armed", "attention.watch_armed":
		h.note("notice "+e.Notice, true, false)
	case "attention.consumed", "attention.discarded":
		for _, x := range e.Notices {
			h.note("notice "+x, false, true)
		}
	case "watch.created", "watch.fired", "watch.ended":
		h.note(e.Watch, kind == "watch.created", kind == "watch.ended")
	case "delegate.created":
		h.note(e.Delegate, true, true)
		h.said[e.Delegate] = text.Preview(e.Descriptor.Name, 60)
	case "delegate.generation_started", "delegate.finished":
		h.note(e.Delegate, false, false)
		h.note(fmt.Sprintf("run %d of %s", e.Generation, e.Delegate), kind == "delegate.generation_started", kind == "delegate.finished")
	}
}

func (h *Held) note(x string, begins, ends bool) {
	if !h.known[x] {
		h.known[x] = true
		h.order = append(h.order, x)
	}
	h.began[x] = h.began[x] || begins
	h.ended[x] = h.ended[x] || ends
}

// Lacks says what a journal that holds less does without: what it does not tell of
// at all, and what has no end there. What stood in lines that cannot be read is known
// only as far as other lines name it.
func (h Held) Lacks(less Held) (gone, open []string) {
	for _, x := range h.order {
		named := x
		if said := h.said[x]; said != "" {
			named += ": " + said
		}
		switch {
		case !less.began[x]:
			gone = append(gone, named)
		case !less.ended[x]:
			open = append(open, named)
		}
	}
	return gone, open
}
