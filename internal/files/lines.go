package files

import (
	"bytes"
	"io"
)

// lineBuf is the longest line that is held whole; of a longer one its beginning.
const lineBuf = 128 << 10

// lines reads line by line in bounded memory, whatever the lines' length.
type lines struct {
	r   io.Reader
	buf []byte
	pos int // the next line begins here
	end int // of what was read
	n   int64
	at  int64 // offset of the next line
	err error // why nothing more comes; io.EOF at the end
}

func newLines(r io.Reader) *lines { return &lines{r: r, buf: make([]byte, lineBuf)} }

// reset begins with another reader.
func (ls *lines) reset(r io.Reader) { *ls = lines{r: r, buf: ls.buf} }

// line is one line, without its end. Its text is good until the next one is read.
type line struct {
	n     int64 // from 1
	at    int64 // offset of its first byte
	size  int64 // bytes, line end left out
	text  []byte
	ended bool // by \n
	cr    bool // by \r\n
}

func (l line) whole() bool { return int64(len(l.text)) == l.size }

// next gives the next line; ok is false at the end and after an error.
func (ls *lines) next() (l line, ok bool) {
	from := ls.pos
	for {
		if i := bytes.IndexByte(ls.buf[from:ls.end], '\n'); i >= 0 {
			l = ls.take(from+i, true)
			ls.pos, ls.at = from+i+1, l.at+int64(from+i+1-ls.pos)
			return l, true
		}
		from = ls.end
		if ls.pos > 0 {
			copy(ls.buf, ls.buf[ls.pos:ls.end])
			ls.end -= ls.pos
			from, ls.pos = ls.end, 0
		}
		if ls.end == len(ls.buf) {
			return ls.long(), true
		}
		if !ls.fill(ls.end) {
			if ls.pos == ls.end || ls.err != io.EOF {
				return line{}, false
			}
			l = ls.take(ls.end, false)
			ls.at, ls.pos = ls.at+int64(ls.end-ls.pos), ls.end
			return l, true
		}
	}
}

// skip passes over lines before the first that find finds something in, as far as
// whole lines are at hand, but for so many before it. find gives a place in a block of whole
// lines, which stands at an offset of the file, or -1.
func (ls *lines) skip(find func(block []byte, at int64) int, keep int) {
	for {
		block := ls.buf[ls.pos:ls.end]
		block = block[:bytes.LastIndexByte(block, '\n')+1]
		to := len(block)
		found := -1
		if to > 0 {
			found = find(block, ls.at)
		}
		if found >= 0 {
			to = bytes.LastIndexByte(block[:found], '\n') + 1
		}
		for n := 0; n < keep && to > 0; n++ {
			to = bytes.LastIndexByte(block[:to-1], '\n') + 1
		}
		ls.n += int64(bytes.Count(block[:to], []byte("\n")))
		ls.at, ls.pos = ls.at+int64(to), ls.pos+to
		if found >= 0 || to == 0 || keep > 0 {
			return
		}
		if ls.pos > 0 {
			ls.end = copy(ls.buf, ls.buf[ls.pos:ls.end])
			ls.pos = 0
		}
		if ls.end == len(ls.buf) || !ls.fill(ls.end) {
			return
		}
	}
}

// take makes a line of the buffer from its start to end.
func (ls *lines) take(end int, ended bool) line {
	ls.n++
	text := ls.buf[ls.pos:end]
	cr := ended && bytes.HasSuffix(text, []byte("\r"))
	if cr {
		text = text[:len(text)-1]
	}
	return line{n: ls.n, at: ls.at, size: int64(len(text)), text: text, ended: ended, cr: cr}
}

// fill reads more behind what is there.
func (ls *lines) fill(at int) bool {
	for ls.err == nil {
		n, err := ls.r.Read(ls.buf[at:])
		ls.end, ls.err = at+n, err
		if n > 0 {
			return true
		}
	}
	return false
}

// long reads to the end of a line that fills the buffer. The second half of the
// buffer takes what comes, the first half keeps the line's beginning.
func (ls *lines) long() line {
	ls.n++
	half := len(ls.buf) / 2
	l := line{n: ls.n, at: ls.at, size: int64(ls.end), text: ls.buf[:half]}
	last := ls.buf[ls.end-1]
	for {
		if !ls.fill(half) {
			ls.pos, ls.at = ls.end, ls.at+l.size
			return l
		}
		b := ls.buf[half:ls.end]
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			l.size += int64(len(b))
			last = b[len(b)-1]
			continue
		}
		if i > 0 {
			last = b[i-1]
		}
		l.size += int64(i)
		ls.pos, ls.at = half+i+1, ls.at+l.size+1
		l.ended = true
		if last == '\r' {
			l.cr, l.size = true, l.size-1
		}
		return l
	}
}
