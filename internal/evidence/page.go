package evidence

import (
	"errors"
	"io/fs"
	"unicode/utf8"

	"evener/internal/fault"
	"evener/internal/joblog"
	"evener/internal/text"
)

// PageBytes is the fixed size of a page.
const PageBytes = 16 << 10

type pageView struct {
	base
	Offset   int64  `json:"offset_bytes"`
	Content  string `json:"content"`
	Replaced int    `json:"replaced_bytes,omitempty"` // bytes that are no UTF-8, shown as U+FFFD
	Next     *int64 `json:"next_offset_bytes,omitempty"`
}

// page is one raw page in lifetime coordinates. Coordinates count bytes, also
// where the content shows a byte differently.
func (r Reader) page(rec Record, off int64) (any, *fault.Error) {
	c, err := joblog.Window(r.log(rec), off, PageBytes)
	if errors.Is(err, fs.ErrNotExist) && rec.empty() { // nothing printed: no loss
		if off == 0 {
			return pageView{base: rec.base(joblog.Info{})}, nil
		}
		err = &joblog.PastEndError{Offset: off}
	}
	if err == nil && rec.Pruned {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, r.unavailable(rec, err)
	}
	v := pageView{base: rec.base(c.Info), Offset: off, Content: text.Printable(string(c.Data)), Replaced: invalid(c.Data)}
	if c.Next < c.End {
		v.Next = &c.Next
	}
	return v, nil
}

func invalid(b []byte) int {
	n := 0
	for len(b) > 0 {
		r, w := utf8.DecodeRune(b)
		if r == utf8.RuneError && w == 1 {
			n++
		}
		b = b[w:]
	}
	return n
}
