package bundle

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"evener/internal/pattern"
)

const (
	// MinSecret is the shortest value that can be looked for, in bytes: a shorter one
	// stands in texts that have nothing to do with it.
	MinSecret = 6
	// minPart is how much of a secret is still one where a text or a line ends or
	// begins in the middle of it, in characters.
	minPart = 8
)

// Secret is a value that is taken out wherever it stands.
type Secret struct {
	Name  string
	forms []form
}

// form is one way in which the value may be written down. marks has what stands
// in the place of each character: as many bytes, so that offsets and
// counts stay true. Line breaks stay.
type form struct {
	runes []rune
	least []int // how often a backslash stands there; 1 for any other
	marks [][]byte
}

// NewSecret makes a secret of a value. It is also found as JSON escapes it, once or
// several times, with line breaks in it, as a URL escapes it and in base64;
// each longer line of a value of several lines is a secret, too.
func NewSecret(name, value string) (Secret, error) {
	value = strings.TrimRight(value, "\r\n")
	switch {
	case !utf8.ValidString(value):
		return Secret{}, fmt.Errorf("the value of %s is not valid UTF-8, so it cannot stand in a record", name)
	case len(value) < MinSecret:
		return Secret{}, fmt.Errorf("the value of %s has %d bytes; one of less than %d cannot be told from other text", name, len(value), MinSecret)
	}
	s := Secret{Name: name}
	add := func(v string) { s.forms = append(s.forms, newForm(name, v)) }
	add(value)
	for _, v := range spellings(value) {
		add(v)
	}
	if lines := strings.Split(value, "\n"); len(lines) > 1 {
		for _, l := range lines {
			if l = strings.TrimSpace(l); len(l) >= minPart {
				add(l)
			}
		}
	}
	return s, nil
}

// spellings are the other ways in which programs write a value down: escaped as in a
// URL, with either kind of space, with or without its slashes, in either case, once or
// twice; and in base64, also as a part of something longer.
func spellings(value string) []string {
	var all []string
	add := func(v string) {
		if v != value && len(v) >= MinSecret && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	query := url.QueryEscape(value)
	percent := strings.ReplaceAll(query, "+", "%20")
	for _, v := range []string{query, percent, strings.ReplaceAll(percent, "%2F", "/"), url.PathEscape(value)} {
		for _, v := range []string{v, escape().ReplaceAllStringFunc(v, strings.ToLower)} {
			add(v)
			add(strings.ReplaceAll(v, "%", "%25"))
		}
	}
	for _, c := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		add(c.EncodeToString([]byte(value)))
		for before := range 3 {
			add(inner(c, value, before))
		}
	}
	return all
}

var escape = pattern.New(`%[0-9A-F]{2}`)

// inner is the base64 of a value behind so many bytes, without the characters in which
// its neighbours have a part.
func inner(c *base64.Encoding, value string, before int) string {
	all := c.EncodeToString(append(make([]byte, before), value...))
	return all[(before*8+5)/6 : (before+len(value))*8/6]
}

func newForm(name, value string) form {
	var f form
	mark := []byte(strings.Repeat("*", len(value)))
	if label := "[" + name + "]"; len(value) >= len(label) && !strings.Contains(value, "\n") {
		copy(mark, label[:len(label)-1])
		mark[len(mark)-1] = ']'
	}
	at := 0
	for _, r := range value {
		n := utf8.RuneLen(r)
		if last := len(f.runes) - 1; r == '\\' && last >= 0 && f.runes[last] == '\\' {
			f.least[last]++
			f.marks[last] = append(f.marks[last], mark[at])
		} else {
			f.runes, f.least, f.marks = append(f.runes, r), append(f.least, 1), append(f.marks, bytes.Clone(mark[at:at+n]))
		}
		at += n
	}
	return f
}

// redactor takes secrets out of text. same keeps the length of what is written
// with escapes, too, for output whose offsets are on record.
type redactor struct {
	secrets []Secret
	same    bool
	first   [256]bool // with which a spelling of any secret may begin
	longest int       // about what the longest spelling takes
	hits    map[string]bool
}

func newRedactor(secrets []Secret, same bool) *redactor {
	r := &redactor{secrets: secrets, same: same, hits: map[string]bool{}}
	r.first['\\'], r.first['&'] = true, true
	for _, s := range secrets {
		for _, f := range s.forms {
			r.longest = max(r.longest, 16*len(f.runes)+64)
			var b [utf8.UTFMax]byte
			utf8.EncodeRune(b[:], f.runes[0])
			r.first[b[0]] = true
		}
	}
	return r
}

// text takes secrets out of a whole text, of which the beginning or the end may
// have been cut off in the middle of one.
func (r *redactor) text(b []byte) []byte {
	out, _ := r.piece(b, true, true)
	return out
}

const ellipsis = "…"

// piece takes secrets out of the beginning of b and returns how much of it was
// taken: all where it is the end, else what no secret can reach beyond.
func (r *redactor) piece(b []byte, start, end bool) (out []byte, taken int) {
	out = make([]byte, 0, len(b))
	limit := len(b)
	if !end {
		limit = max(0, len(b)-r.longest)
	}
	i := 0
	for i < limit {
		if begins := start && i == 0 || i > 0 && (b[i-1] == '\n' || bytes.HasSuffix(b[:i], []byte(ellipsis))); begins || r.first[b[i]] {
			if done, n := r.at(b, i, begins, end); n > 0 {
				out, i = append(out, done...), i+n
				continue
			}
		}
		out = append(out, b[i])
		i++
	}
	return out, i
}

// at tries every secret at a place and takes the longest spelling.
func (r *redactor) at(b []byte, i int, begins, end bool) (done []byte, n int) {
	name := ""
	for _, s := range r.secrets {
		for _, f := range s.forms {
			if d, m := f.at(b[i:], 0, end, r.same); m > n {
				done, n, name = d, m, s.Name
			}
			for k := 1; begins && n == 0 && len(f.runes)-k >= minPart; k++ {
				if d, m := f.at(b[i:], k, end, r.same); m > n {
					done, n, name = d, m, s.Name
				}
			}
		}
	}
	if n > 0 {
		r.hits[name] = true
	}
	return done, n
}

// at finds the form from its character k on at the beginning of b. done is what is
// to stand there, n how much of b it takes, 0 if something else is there.
func (f *form) at(b []byte, k int, end, same bool) (out []byte, n int) {
	from := k
	for ; k < len(f.runes); k++ {
		m := spelled(b[n:], f.runes[k], f.least[k])
		if m == 0 && k > from {
			if gap := lineBreak(b[n:]); gap > 0 {
				if m = spelled(b[n+gap:], f.runes[k], f.least[k]); m > 0 {
					out, n = append(out, b[n:n+gap]...), n+gap
				}
			}
		}
		if m == 0 {
			cut := end && n == len(b) || bytes.HasPrefix(b[n:], []byte(ellipsis)) || lineBreak(b[n:]) > 0
			if k-from >= minPart && cut {
				return out, n
			}
			return nil, 0
		}
		if f.runes[k] == '\n' || f.runes[k] == '\r' {
			out = append(out, b[n:n+m]...)
		} else {
			out = append(out, f.marks[k]...)
			for i := len(f.marks[k]); same && i < m; i++ {
				out = append(out, '*')
			}
		}
		n += m
	}
	return out, n
}

// backslashes is how many there are at the beginning.
func backslashes(b []byte) int {
	n := 0
	for n < len(b) && b[n] == '\\' {
		n++
	}
	return n
}

// entities are how notices, and pages, write characters that mean something there.
var entities = map[rune]string{'<': "lt;", '>': "gt;", '&': "amp;", '"': "quot;", '\'': "#39;"}

var letters = map[rune]byte{'\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f'}

// spelled is how much of b writes the character down, as it is or behind the
// backslashes of any number of JSON encodings; 0 if b begins otherwise.
func spelled(b []byte, r rune, least int) int {
	n := backslashes(b)
	if r == '\\' {
		if n >= least {
			return n
		}
		return escaped(b, n, r)
	}
	if e := entities[r]; e != "" {
		amp := escaped(b, n, '&')
		if n == 0 && bytes.HasPrefix(b, []byte("&")) {
			amp = 1
		}
		if amp > 0 && bytes.HasPrefix(b[amp:], []byte(e)) {
			return amp + len(e)
		}
	}
	var raw [utf8.UTFMax]byte
	plain := raw[:utf8.EncodeRune(raw[:], r)]
	if (n == 0 || r == '"' || r == '/') && bytes.HasPrefix(b[n:], plain) {
		return n + len(plain)
	}
	if l := letters[r]; n > 0 && l != 0 && n < len(b) && b[n] == l {
		return n + 1
	}
	return escaped(b, n, r)
}

// escaped reads \u and four digits behind n backslashes, or two of them.
func escaped(b []byte, n int, r rune) int {
	if n == 0 {
		return 0
	}
	if r < 0x10000 {
		if unit(b[n:]) == r {
			return n + 5
		}
		return 0
	}
	high, low := utf16.EncodeRune(r)
	if unit(b[n:]) != high {
		return 0
	}
	at := n + 5
	m := backslashes(b[at:])
	if m == 0 || unit(b[at+m:]) != low {
		return 0
	}
	return at + m + 5
}

// unit reads u and four digits; -1 if there is something else.
func unit(b []byte) rune {
	if len(b) < 5 || b[0] != 'u' {
		return -1
	}
	v := rune(0)
	for _, c := range b[1:5] {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if d < 0 {
			return -1
		}
		v = v<<4 | rune(d)
	}
	return v
}

// lineBreak is how much a line break takes that is written here, 0 for none.
func lineBreak(b []byte) int {
	switch n := backslashes(b); {
	case bytes.HasPrefix(b, []byte("\r\n")):
		return 2
	case bytes.HasPrefix(b, []byte("\n")):
		return 1
	case n > 0 && n < len(b) && b[n] == 'n':
		return n + 1
	case n > 0 && n < len(b) && b[n] == 'r' && bytes.HasPrefix(b[n+1:], append(bytes.Repeat([]byte{'\\'}, n), 'n')):
		return 2*n + 2
	}
	return 0
}
