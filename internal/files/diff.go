package files

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"evener/internal/text"
)

// Bounds of the diff that an edit shows.
const (
	diffLines = 120
	diffLine  = 400 // bytes of one line
	diffBytes = 12 << 10
	around    = 3 // lines of context
	mostHunk  = 64 << 10
	mostCells = 250_000 // of a comparison line by line; above it all is shown as replaced
)

// hunk is a stretch of lines that changed, with those around it.
type hunk struct {
	from, to int // offsets in the old content: whole lines
	line     int // number of the first line
	new      []byte
	newLine  int
}

// hunks are the changed places, with those joined whose context meets.
func (e edit) hunks() (out []hunk) {
	line, counted := 1, 0
	grown := 0 // lines that the new content is ahead
	shown := 0 // up to this offset all is in a hunk
	for k := 0; k < len(e.at); {
		from := max(back(e.content, e.at[k], around), shown)
		last := k
		to := ahead(e.content, e.at[k]+len(e.old), around)
		for last+1 < len(e.at) && to-from < mostHunk && back(e.content, e.at[last+1], around) <= to {
			last++
			to = ahead(e.content, e.at[last]+len(e.old), around)
		}
		part := edit{content: e.content[from:to], old: e.old, new: e.new}
		for _, i := range e.at[k : last+1] {
			part.at = append(part.at, i-from)
		}
		line += bytes.Count(e.content[counted:from], []byte("\n"))
		counted = from
		h := hunk{from: from, to: to, line: line, new: part.apply(), newLine: line + grown}
		grown += bytes.Count(h.new, []byte("\n")) - bytes.Count(e.content[from:to], []byte("\n"))
		out = append(out, h)
		k, shown = last+1, to
	}
	return out
}

// back goes to the start of the line of i and n lines further; ahead behind the end of
// the line of i, which may be its very end, and n lines further.
func back(b []byte, i, n int) int {
	for ; n >= 0; n-- {
		i = bytes.LastIndexByte(b[:i], '\n')
		if i < 0 {
			return 0
		}
	}
	return i + 1
}

func ahead(b []byte, i, n int) int {
	if i > 0 && b[i-1] == '\n' {
		n-- // at the start of a line
	}
	for ; n >= 0; n-- {
		j := bytes.IndexByte(b[i:], '\n')
		if j < 0 {
			return len(b)
		}
		i += j + 1
	}
	return i
}

// diff is a unified diff of the edit, bounded.
func (e edit) diff() string {
	var b strings.Builder
	shown := 0
	hunks := e.hunks()
	for i, h := range hunks {
		ops, before := trimmed(compare(keepEnds(e.content[h.from:h.to]), keepEnds(h.new)))
		if shown > 0 && shown+len(ops) > diffLines || b.Len() > diffBytes {
			fmt.Fprintf(&b, "(%s not shown)\n", plural(int64(len(hunks)-i), "more changed place"))
			break
		}
		oldN, newN := 0, 0
		for _, o := range ops {
			if o.sign != '+' {
				oldN++
			}
			if o.sign != '-' {
				newN++
			}
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(h.line+before, oldN), span(h.newLine+before, newN))
		for j, o := range ops {
			if shown++; shown > diffLines || b.Len() > diffBytes {
				fmt.Fprintf(&b, "(%s of this place not shown)\n", plural(int64(len(ops)-j), "more line"))
				break
			}
			o.write(&b)
		}
	}
	return b.String()
}

// trimmed leaves only so much context at both ends, and says what it took from the
// beginning: the text that was replaced may begin and end in lines that stayed.
func trimmed(ops []op) (kept []op, before int) {
	isChange := func(o op) bool { return o.sign != ' ' }
	first := slices.IndexFunc(ops, isChange)
	if first < 0 {
		return ops, 0
	}
	before = max(0, first-around)
	last := len(ops)
	for !isChange(ops[last-1]) {
		last--
	}
	return ops[before:min(len(ops), last+around)], before
}

func span(line, n int) string {
	if n == 0 {
		line--
	}
	if n == 1 {
		return fmt.Sprint(line)
	}
	return fmt.Sprintf("%d,%d", line, n)
}

// op is one line of a diff: ' ', '-' or '+'.
type op struct {
	sign byte
	line []byte // with its end
}

func (o op) write(b *strings.Builder) {
	line := bytes.TrimSuffix(o.line, []byte("\n"))
	ended := len(line) < len(o.line)
	line = bytes.TrimSuffix(line, []byte("\r"))
	kept := line[:runeCut(line, diffLine)]
	b.WriteByte(o.sign)
	b.WriteString(text.Printable(string(kept)))
	if len(kept) < len(line) {
		fmt.Fprintf(b, "… (%s of this line not shown)", plural(int64(len(line)-len(kept)), "byte"))
	}
	b.WriteByte('\n')
	if !ended {
		b.WriteString("\\ No newline at end of file\n")
	}
}

func keepEnds(b []byte) (out [][]byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n') + 1
		if i == 0 {
			i = len(b)
		}
		out = append(out, b[:i])
		b = b[i:]
	}
	return out
}

// compare is the shortest way from old to new lines, deletions first; of large
// changes everything between the common ends counts as replaced.
func compare(old, new [][]byte) (out []op) {
	head := 0
	for head < len(old) && head < len(new) && bytes.Equal(old[head], new[head]) {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(new)-head && bytes.Equal(old[len(old)-1-tail], new[len(new)-1-tail]) {
		tail++
	}
	keep := func(lines [][]byte) {
		for _, l := range lines {
			out = append(out, op{' ', l})
		}
	}
	keep(old[:head])
	out = append(out, middle(old[head:len(old)-tail], new[head:len(new)-tail])...)
	keep(old[len(old)-tail:])
	return out
}

func middle(old, new [][]byte) (out []op) {
	rows, cols := len(old)+1, len(new)+1
	if rows*cols > mostCells {
		for _, l := range old {
			out = append(out, op{'-', l})
		}
		for _, l := range new {
			out = append(out, op{'+', l})
		}
		return out
	}
	common := make([]int32, rows*cols) // of what follows
	for i := rows - 2; i >= 0; i-- {
		for j := cols - 2; j >= 0; j-- {
			if bytes.Equal(old[i], new[j]) {
				common[i*cols+j] = common[(i+1)*cols+j+1] + 1
			} else {
				common[i*cols+j] = max(common[(i+1)*cols+j], common[i*cols+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(old) || j < len(new) {
		switch {
		case i < len(old) && j < len(new) && bytes.Equal(old[i], new[j]):
			out = append(out, op{' ', old[i]})
			i, j = i+1, j+1
		case i < len(old) && (j == len(new) || common[(i+1)*cols+j] >= common[i*cols+j+1]):
			out = append(out, op{'-', old[i]})
			i++
		default:
			out = append(out, op{'+', new[j]})
			j++
		}
	}
	return out
}
