package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/text"
	"evener/internal/transcript"
)

// What bounds one page of a search, beside the number of sessions and the
// characters of the answer: summaries that are looked at, and bytes of journals
// that are searched for a text. The session that goes over the latter is searched
// whole, and ends the page.
const (
	maxGlances     = 10_000
	maxSearched    = 256 << 20
	maxExcerpts    = 3   // of a session
	excerptChars   = 160 // about
	maxDiagnostics = 10
)

type findView struct {
	Items       []found  `json:"items"`
	Count       int      `json:"count"`
	Next        string   `json:"next_cursor,omitempty"`
	Diagnostics []string `json:"diagnostics,omitempty"`
}

type found struct {
	Ref        string      `json:"transcript_ref"`
	Kind       string      `json:"kind,omitempty"`
	Parent     string      `json:"parent_ref,omitempty"`
	Delegate   id.Delegate `json:"delegate_id,omitempty"`
	Divergence int64       `json:"divergence_turn,omitempty"`
	ForkLabel  string      `json:"fork_label,omitempty"`
	Title      string      `json:"title,omitempty"`
	Created    string      `json:"created_at"`
	Last       string      `json:"last_activity_at"`
	Turns      int64       `json:"turns,omitempty"`
	Outcome    string      `json:"outcome"`
	Archived   bool        `json:"archived,omitempty"`
	Matches    []excerpt   `json:"matches,omitempty"`
}

type excerpt struct {
	Turn  int64  `json:"turn"`
	Where string `json:"where"`
	Text  string `json:"text"`
}

// Find gives a page of the sessions that are looked for, the newest first, as
// compact JSON. It reads summaries; journals are read for a text alone. What
// cannot be read is no result: a diagnostic says so.
func (r Reader) Find(ctx context.Context, want session.Find) ([]byte, *fault.Error) {
	f := finder{Find: want, home: r.Home, roots: map[id.Session]store.Meta{}}
	if refusal := f.parent(r); refusal != nil {
		return nil, refusal
	}
	ids, err := f.home.IDs()
	if err != nil {
		return nil, fault.New(fault.OutputUnavailable, "find_session_transcripts: %v", err)
	}
	slices.Reverse(ids)
	room := r.MaxChars
	v := findView{Items: []found{}}
	for i, s := range ids {
		if f.After != "" && s >= f.After {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, fault.New(fault.Interrupted, "find_session_transcripts: %v", context.Cause(ctx))
		}
		item, ok := f.look(ctx, s)
		if ok {
			if room -= len(text.Encode(item)); room < 0 && len(v.Items) > 0 { // it has no room here: the next page begins with it
				v.Next = string(ids[i-1])
				break
			}
			v.Items = append(v.Items, item)
		}
		if last := i == len(ids)-1; !last && (len(v.Items) == f.Limit || f.glances >= maxGlances || f.searched >= maxSearched) {
			v.Next = string(s)
			break
		}
	}
	v.Count = len(v.Items)
	v.Diagnostics = f.said()
	return text.Encode(v), nil
}

// finder is one search.
type finder struct {
	session.Find
	home     store.Home
	roots    map[id.Session]store.Meta
	glances  int
	searched int64
	faults   []string
	more     int // faults beyond those
}

// parent finds the project whose sessions are looked at: this one, or that of the
// session whose children are asked for, as an exact ref is found. A parent that
// is nowhere leaves its children, which name it still.
func (f *finder) parent(r Reader) *fault.Error {
	if f.Parent == "" {
		return nil
	}
	none := fault.New(fault.TargetNotFound, "children_of local:%s: there is no such session here any more; its children are found all the same", f.Parent)
	home, refusal := r.homeOf(f.Parent, fmt.Sprintf("session %s", f.Parent), none)
	switch {
	case refusal == nil:
		f.home = home
	case refusal.Code == fault.TargetNotFound:
		f.fault("%s", refusal.Text)
	default:
		return refusal
	}
	return nil
}

func (f *finder) fault(format string, args ...any) {
	if len(f.faults) == maxDiagnostics {
		f.more++
		return
	}
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

func (f *finder) said() []string {
	if f.more > 0 {
		return append(f.faults, fmt.Sprintf("%d more", f.more))
	}
	return f.faults
}

// look tells whether a session is one of those that are looked for.
func (f *finder) look(ctx context.Context, s id.Session) (found, bool) {
	if f.Text != "" && s == f.Self {
		return found{}, false
	}
	f.glances++
	m, err := f.home.Glance(s)
	switch {
	case errors.Is(err, fs.ErrNotExist): // a folder without a journal is no session
		return found{}, false
	case err != nil:
		f.fault("local:%s cannot be read: %v", s, err)
		return found{}, false
	}
	switch {
	case m.Session == "", // nothing was recorded yet
		f.Parent != "" && m.Parent != f.Parent,
		!f.Since.IsZero() && m.Last.Before(f.Since),
		!f.Until.IsZero() && m.Created.After(f.Until):
		return found{}, false
	}
	item := found{Ref: ref(s), Kind: m.Kind(), Divergence: m.Divergence, ForkLabel: m.ForkLabel, Title: m.Title, Created: stamp(m.Created), Last: stamp(m.Last),
		Turns: m.Turns, Outcome: m.Outcome, Archived: m.Archived || f.archived(m)}
	if m.OfDelegate() {
		item.Delegate = id.DelegateOf(s)
	}
	if f.Text != "" {
		f.searched += m.JournalSize
		if item.Matches, err = search(ctx, f.home, s, f.Text); err != nil {
			f.fault("local:%s cannot be read: %v", s, err)
		}
		if len(item.Matches) == 0 {
			return found{}, false
		}
	}
	if m.Parent != "" {
		item.Parent = ref(m.Parent)
		if m.Parent != f.Parent && !f.home.Has(m.Parent) {
			f.fault("local:%s: its parent local:%s is not there any more", s, m.Parent)
		}
	}
	return item, true
}

// archived: a tree is put away as a whole.
func (f *finder) archived(m store.Meta) bool {
	if !m.OfDelegate() {
		return false
	}
	root, ok := f.roots[m.Root]
	if !ok && f.home.Has(m.Root) {
		root, _ = f.home.Glance(m.Root) // what cannot be read is not known to be put away
		f.roots[m.Root] = root
	}
	return root.Archived
}

func ref(s id.Session) string { return "local:" + string(s) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// finding is the name of the tool. What it was asked and has answered is not
// searched: it would find itself.
const finding = "find_session_transcripts"

// search looks for a text in what a session's conversation shows, as far as the
// first few matches.
func search(ctx context.Context, h store.Home, s id.Session, want string) ([]excerpt, error) {
	var out []excerpt
	want = fold(want)
	_, err := h.Converse(ctx, s, mayHold(want), func(t *store.Talk, e transcript.Entry, turn int64) error {
		for _, k := range (Conversation{Talk: *t}).blocks(e) {
			if k.tool == finding {
				continue
			}
			if s, ok := around(k.body, want); ok {
				out = append(out, excerpt{turn, k.head, s})
			}
			if len(out) == maxExcerpts {
				return store.ErrEnough
			}
		}
		return nil
	})
	return out, err
}

// fold makes letters small, each into one, and none of other scripts into a
// letter of ASCII, so that mayHold is right.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); r < utf8.RuneSelf || l >= utf8.RuneSelf {
			return l
		}
		return r
	}, s)
}

// around finds a folded text and shows what stands about it.
func around(s, want string) (string, bool) {
	low := fold(s)
	at := strings.Index(low, want)
	if at < 0 {
		return "", false
	}
	length := utf8.RuneCountInString(want)
	side := max(0, excerptChars-length) / 2
	skip := max(0, utf8.RuneCountInString(low[:at])-side) // letters were folded one by one
	from := 0
	for range skip {
		_, n := utf8.DecodeRuneInString(s[from:])
		from += n
	}
	out, cut := text.Head(s[from:], length+2*side)
	out = strings.Join(strings.Fields(text.Printable(out)), " ")
	if from > 0 {
		out = "…" + out
	}
	if cut {
		out += "…"
	}
	return out, true
}

// mayHold tells from the JSON of an entry that it cannot hold a folded text: by
// the longest part of it that JSON writes as it is. A text without one is looked
// for everywhere.
func mayHold(want string) func(store.Words) bool {
	part := []byte{}
	for s := range strings.FieldsFuncSeq(want, func(r rune) bool {
		return r < ' ' || r >= 0x7f || strings.ContainsRune(`"\<>&/`, r)
	}) {
		if len(s) > len(part) {
			part = []byte(s)
		}
	}
	if len(part) == 0 {
		return nil
	}
	var low []byte
	return func(w store.Words) bool {
		if w.Aside || w.Inherited() { // of which a result is in the turn of its call, so that is read, too
			return true
		}
		low = append(low[:0], w.JSON...)
		for i, c := range low {
			if 'A' <= c && c <= 'Z' {
				low[i] = c + 'a' - 'A'
			}
		}
		return bytes.Contains(low, part)
	}
}
