package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"evener/internal/fault"
	"evener/internal/session"
	"evener/internal/text"
)

// Bounds of what is shown of a file. Lines are bounded by session.ReadLines.
const (
	readBytes = 48 << 10 // in all
	readLine  = 2000     // of one line
)

// hashBytes is the largest file that is known by its content, and that is edited.
const hashBytes = 32 << 20

type readData struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`                       // bytes
	Lines   int64  `json:"lines,omitempty"`            // that the file has; not of one above 32 MiB
	From    int64  `json:"from_line,omitempty"`        // first line shown
	To      int64  `json:"to_line,omitempty"`          // last line shown
	Next    int64  `json:"next_offset,omitempty"`      // where to go on
	Cut     int    `json:"cut_lines,omitempty"`        // lines of which a part is shown
	Invalid int    `json:"replaced_bytes,omitempty"`   // shown as U+FFFD
	Ends    string `json:"line_ends,omitempty"`        // crlf or mixed; none: \n
	NoEnd   bool   `json:"no_final_newline,omitempty"` // the last line has no \n
	Kind    string `json:"kind,omitempty"`             // of a file that is no text: what it seems to be
}

func (p Place) read(ctx context.Context, c session.ReadFileCall) Result {
	n, bad := p.name("read_file", c.Path)
	if bad != nil {
		return Result{Err: bad}
	}
	f, info, err := n.open()
	if err != nil {
		return Result{Err: p.refused(n, err)}
	}
	defer f.Close()
	if n.real, err = realPath(n.path); err != nil {
		return Result{Err: n.failed(err)}
	}
	r := &reading{name: n, call: c, data: readData{Path: n.given, Size: info.Size()}, hash: sha256.New()}
	return r.run(ctx, f, info)
}

// reading goes once through a file: it shows the lines asked for, and unless the
// file is large it counts and hashes all of it.
type reading struct {
	name
	call  session.ReadFileCall
	data  readData
	hash  hash.Hash
	read  int64 // bytes that went by
	out   strings.Builder
	crlf  int64
	lf    int64
	full  bool // the bound of bytes is reached
	noEnd bool
}

func (r *reading) Write(b []byte) (int, error) {
	r.read += int64(len(b))
	return r.hash.Write(b)
}

func (r *reading) run(ctx context.Context, f fs.File, info fs.FileInfo) Result {
	in := io.TeeReader(cancelled{ctx, f}, r)
	head := make([]byte, headBytes)
	got, err := io.ReadFull(in, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return Result{Err: r.failed(err)}
	}
	head = head[:got]
	if r.data.Kind = binary(head); r.data.Kind != "" {
		return r.binary(info)
	}
	ls := newLines(io.MultiReader(strings.NewReader(string(head)), in))
	from, to := max(r.call.Offset, 1), max(r.call.Offset, 1)+session.ReadLines-1
	if r.call.Limit > 0 {
		to = min(to, from+r.call.Limit-1)
	}
	for {
		l, ok := ls.next()
		if !ok {
			break
		}
		r.count(l)
		if l.n >= from && l.n <= to && !r.full {
			r.show(l)
		}
		if (l.n >= to || r.full) && (info.Size() > hashBytes || r.read > hashBytes) {
			break // what is left is not counted
		}
	}
	if ls.err != nil && ls.err != io.EOF {
		return Result{Err: r.failed(ls.err)}
	}
	return r.result(ls, f, from)
}

func (r *reading) count(l line) {
	switch {
	case l.cr:
		r.crlf++
	case l.ended:
		r.lf++
	}
	r.noEnd = !l.ended
}

// show writes one numbered line, or finds that there is no room for it.
func (r *reading) show(l line) {
	b := l.text
	if l.n == 1 {
		b = []byte(strings.TrimPrefix(string(b), bom))
	}
	size := l.size - int64(len(l.text)-len(b))
	b = b[:runeCut(b, readLine)]
	shown := text.Printable(string(b))
	missing := size - int64(len(b))
	if missing > 0 {
		shown += fmt.Sprintf("… (%s of this line not shown)", plural(missing, "byte"))
	}
	if r.out.Len() > 0 && r.out.Len()+len(shown) > readBytes {
		r.full = true
		return
	}
	if missing > 0 {
		r.data.Cut++
	}
	r.data.Invalid += invalid(b)
	if r.data.From == 0 {
		r.data.From = l.n
	}
	r.data.To = l.n
	fmt.Fprintf(&r.out, "%d\t%s\n", l.n, shown)
}

const bom = "\uFEFF"

// runeCut is the place of at most n where no rune is cut.
func runeCut(b []byte, n int) int {
	if len(b) <= n {
		return len(b)
	}
	for i := n; i > n-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(b[i]) {
			return i
		}
	}
	return n
}

// runeEnd is the length without a rune that is cut at the end.
func runeEnd(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if utf8.FullRune(b[i:]) {
				break
			}
			return i
		}
	}
	return len(b)
}

func invalid(b []byte) (n int) {
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		if r == utf8.RuneError && w == 1 {
			n++
		}
		b = b[w:]
	}
	return n
}

func (r *reading) binary(info fs.FileInfo) Result {
	said := fmt.Sprintf("%s is no text: %s bytes, by its first bytes %s%s", r.shown(), text.Thousands(int(info.Size())), r.data.Kind, binaryHint(r.data.Kind))
	return Result{Text: said, Data: r.data}
}

func (r *reading) result(ls *lines, f fs.File, from int64) Result {
	d := &r.data
	whole := ls.err == io.EOF
	if whole {
		d.Lines, d.Size, d.NoEnd = ls.n, r.read, r.noEnd
	}
	if from > 1 && d.From == 0 {
		return Result{Err: fault.Invalid("read_file: offset %d is past the end of %s, which has %s", from, r.given, plural(ls.n, "line"))}
	}
	if !whole || d.To < ls.n {
		d.Next = d.To + 1
	}
	switch {
	case r.crlf > 0 && r.lf > 0:
		d.Ends = "mixed"
	case r.crlf > 0:
		d.Ends = "crlf"
	}
	return Result{Text: r.out.String() + r.notes(whole), Data: r.data, Seen: r.seen(f, whole)}
}

// notes say what the lines do not show.
func (r *reading) notes(whole bool) string {
	d, notes := r.data, []string{}
	switch {
	case whole && d.Size == 0:
		notes = append(notes, "the file is empty")
	case d.Next > 0 && whole:
		notes = append(notes, fmt.Sprintf("lines %d-%d of %d; go on with offset=%d", d.From, d.To, d.Lines, d.Next))
	case d.Next > 0:
		notes = append(notes, fmt.Sprintf("lines %d-%d of a file of %s bytes; go on with offset=%d", d.From, d.To, text.Thousands(int(d.Size)), d.Next))
	case d.From > 1:
		notes = append(notes, fmt.Sprintf("lines %d-%d of %d, to the end", d.From, d.To, d.Lines))
	}
	if d.Cut > 0 {
		notes = append(notes, fmt.Sprintf("lines are cut at %d bytes; search_files shows where a long line matches, cut -c shows any part", readLine))
	}
	if d.Invalid > 0 {
		notes = append(notes, fmt.Sprintf("%s not UTF-8, shown as \uFFFD", plural(int64(d.Invalid), "byte")))
	}
	switch d.Ends {
	case "crlf":
		notes = append(notes, `lines end in \r\n, which edit_file keeps`)
	case "mixed":
		notes = append(notes, fmt.Sprintf(`line ends are mixed: %d \r\n, %d \n`, r.crlf, r.lf))
	}
	if d.NoEnd && d.Next == 0 {
		notes = append(notes, "no newline at the end")
	}
	if len(notes) == 0 {
		return ""
	}
	return "(" + strings.Join(notes, "; ") + ")\n"
}

// seen is what the session knows of the file by this. What was hashed is what
// was read: a file that changed meanwhile is another one from here on.
func (r *reading) seen(f fs.File, whole bool) *session.FileSeen {
	info, err := f.Stat()
	if err != nil || !utf8.ValidString(r.real) {
		return nil
	}
	s := &session.FileSeen{Path: r.real, By: session.FileRead, Size: info.Size(), Time: info.ModTime().UnixNano(), From: r.data.From, To: r.data.To}
	if whole {
		s.Size, s.Lines = r.read, r.data.Lines
		if r.read <= hashBytes {
			s.SHA256 = hex.EncodeToString(r.hash.Sum(nil))
		}
	}
	return s
}
