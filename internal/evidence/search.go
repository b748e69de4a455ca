package evidence

import (
	"errors"
	"io/fs"
	"regexp"

	"evener/internal/fault"
	"evener/internal/joblog"
	"evener/internal/session"
	"evener/internal/text"
)

type searchView struct {
	base
	Match   string       `json:"output_match"`
	Matches int          `json:"matches"`
	Lines   []searchLine `json:"lines"`
	// Next is where the same search goes on: a bound ended it before the end.
	Next *int64 `json:"next_offset_bytes,omitempty"`
}

type searchLine struct {
	Offset int64  `json:"offset_bytes"`
	Match  bool   `json:"match,omitempty"` // else a line of context
	Text   string `json:"text"`
	Cut    bool   `json:"cut,omitempty"` // part of a long line
}

// search looks for complete retained lines, from the given offset on.
func (r Reader) search(rec Record, a session.ReadTranscriptCall) (any, *fault.Error) {
	re, err := regexp.Compile(*a.OutputMatch)
	if err != nil {
		return nil, fault.Invalid("read_transcript: output_match is no RE2 pattern: %v", err)
	}
	o := joblog.SearchOptions{Final: !rec.Running}
	if a.ContextLines != nil {
		o.Context = int(*a.ContextLines)
	}
	from := int64(0)
	if a.OffsetBytes != nil {
		from = *a.OffsetBytes
	}
	found, err := joblog.Search(r.log(rec), re, from, o)
	switch {
	case errors.Is(err, fs.ErrNotExist) && rec.empty():
		return searchView{base: rec.base(joblog.Info{}), Match: *a.OutputMatch, Lines: []searchLine{}}, nil
	case err == nil && rec.Pruned:
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, r.unavailable(rec, err)
	}
	v := searchView{base: rec.base(found.Info), Match: *a.OutputMatch, Matches: found.Matches, Lines: []searchLine{}}
	for _, l := range found.Lines {
		v.Lines = append(v.Lines, searchLine{l.Offset, l.Match, text.Printable(string(l.Text)), l.Cut})
	}
	if found.More {
		v.Next = &found.Next
	}
	return v, nil
}
