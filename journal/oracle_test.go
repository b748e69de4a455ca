package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// oracle stands outside the journal and knows what was asked and answered. After
// each fault it compares a reopened file with that.
type oracle struct {
	path    string
	created bool
	step    int64
	asked   []*ask // in order
	handle  int
	torn    map[string][]byte // what was put aside, by file
}

type ask struct {
	text   string
	state  string // "acked", "refused" (definitely not written) or "unknown"
	handle int
}

// next makes a record that can be told from all others.
func (o *oracle) next(size int) (Record, *ask) {
	o.step++
	a := &ask{text: fmt.Sprintf("t%d%s", o.step, strings.Repeat("x", size)), state: "unknown", handle: o.handle}
	o.asked = append(o.asked, a)
	return rec(o.step, a.text), a
}

func (o *oracle) settle(err error, asks ...*ask) {
	for _, a := range asks {
		switch {
		case err == nil:
			a.state = "acked"
		case errors.Is(err, ErrFull) || errors.Is(err, ErrClosed):
			a.state = "refused"
		}
	}
}

func (o *oracle) append(j *Journal, sizes ...int) error {
	recs, asks := make([]Record, len(sizes)), make([]*ask, len(sizes))
	for i, n := range sizes {
		recs[i], asks[i] = o.next(n)
	}
	_, err := j.Append(recs...)
	o.settle(err, asks...)
	return err
}

// texts reads back what a file holds, and checks each line as a stranger would.
func texts(image []byte) (out []string, err error) {
	for i, line := range bytes.SplitAfter(image, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var l struct {
			Seq    int64
			Events []struct {
				Kind string
				Data struct{ Text string }
			}
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return out, fmt.Errorf("line %d: %w", i+1, err)
		}
		if l.Seq != int64(i+1) {
			return out, fmt.Errorf("line %d has seq %d", i+1, l.Seq)
		}
		for _, e := range l.Events {
			if e.Kind == "test.said" {
				out = append(out, e.Data.Text)
			}
		}
	}
	return out, nil
}

// compare checks that every acknowledged record is there once and in order, that
// nothing else is but a beginning of what each handle left unknown.
func (o *oracle) compare(got []string) error {
	ended := map[int]bool{} // handles of which an unknown record is missing
	for _, a := range o.asked {
		there := len(got) > 0 && got[0] == a.text
		switch {
		case there && a.state == "refused":
			return fmt.Errorf("%.12s was refused but is there", a.text)
		case there && ended[a.handle]:
			return fmt.Errorf("%.12s is there without one before it", a.text)
		case !there && a.state == "acked":
			return fmt.Errorf("%.12s was acknowledged but is lost; %d more there", a.text, len(got))
		case !there && a.state == "unknown":
			ended[a.handle] = true
		}
		if there {
			got = got[1:]
			a.state = "acked" // an opening makes what it finds durable
		} else {
			a.state = "refused" // and what it does not find stays away
		}
	}
	if len(got) > 0 {
		return fmt.Errorf("%d records too many, the first %.12s", len(got), got[0])
	}
	return nil
}

// reopen opens after a fault and checks all that must hold then. The image is
// the file as it was before; read gives the content of any file.
func (o *oracle) reopen(fs filesystem, read func(string) []byte) (*Journal, error) {
	image := read(o.path)
	if image == nil && !o.created {
		return nil, nil
	}
	var visited int64
	opt := Options{fs: fs, Quiet: -1, Visit: func(e Entry) error {
		if visited++; e.Seq != visited {
			return fmt.Errorf("visit %d shows seq %d", visited, e.Seq)
		}
		return nil
	}}
	j, r, err := Open(o.path, opt)
	if err != nil {
		return nil, err
	}
	o.handle++
	o.created = true
	now := read(o.path)
	if visited != r.Last.Seq || r.Last.Off != int64(len(now)) {
		return j, fmt.Errorf("%d visited, last %+v, %d bytes", visited, r.Last, len(now))
	}
	if t := r.Torn; t != nil && t.Offset < int64(len(image)) {
		tail := image[t.Offset:]
		if t.Saved == "" && len(bytes.Trim(tail, "\x00")) > 0 || t.Saved != "" && !bytes.Equal(read(t.Saved), tail) {
			return j, fmt.Errorf("%d bytes dropped that are not put aside", len(tail))
		}
		image = image[:t.Offset]
		if t.Saved != "" {
			if o.torn == nil {
				o.torn = map[string][]byte{}
			}
			o.torn[t.Saved] = bytes.Clone(tail)
		}
	}
	for name, tail := range o.torn {
		if !bytes.Equal(read(name), tail) {
			return j, fmt.Errorf("%s was put aside and is lost", name)
		}
	}
	if !bytes.HasPrefix(now, image) {
		return j, errors.New("what was whole was changed")
	}
	got, err := texts(now)
	if err != nil {
		return j, err
	}
	return j, o.compare(got)
}

// again checks that a second opening finds the same and changes nothing.
func (o *oracle) again(fs filesystem, read func(string) []byte) error {
	before := read(o.path)
	j, r, err := Open(o.path, Options{fs: fs, Quiet: -1})
	if err != nil {
		return fmt.Errorf("second opening: %w", err)
	}
	if err := j.Close(); err != nil {
		return fmt.Errorf("second opening: %w", err)
	}
	if r.Torn != nil || !bytes.Equal(before, read(o.path)) {
		return errors.New("the second opening is not like the first")
	}
	return nil
}

func readFile(path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return b
}

// a small journal made with real calls: batches of the given numbers of records.
type sample struct {
	path   string
	data   []byte
	starts []int64 // where each batch begins
	seqs   []int64 // its first seq
}

func makeSample(t testing.TB, closed bool, batches ...int) sample {
	t.Helper()
	fs := newMemFS("/d")
	o := &oracle{path: "/d/j"}
	j, err := Create(o.path, Options{fs: fs, Quiet: -1})
	if err != nil {
		t.Fatal(err)
	}
	s := sample{path: o.path, starts: []int64{0}, seqs: []int64{1}}
	for i, n := range batches {
		d := j.Durable()
		s.starts, s.seqs = append(s.starts, d.Off), append(s.seqs, d.Seq+1)
		sizes := make([]int, n)
		for k := range sizes {
			sizes[k] = (i*131 + k*57) % 300
		}
		if err := o.append(j, sizes...); err != nil {
			t.Fatal(err)
		}
	}
	if closed {
		d := j.Durable()
		s.starts, s.seqs = append(s.starts, d.Off), append(s.seqs, d.Seq+1)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s.data = fs.bytes(o.path)
	if !closed {
		fs.kill()
		j.Close()
	}
	return s
}

// onFile puts bytes in place of a journal in memory.
func onFile(b []byte) *memFS {
	fs := newMemFS("/d")
	fs.names["/d/j"] = &inode{ino: 1, data: slices.Clone(b), disk: slices.Clone(b), hist: map[int64][][]byte{}, dirty: map[int64]bool{}}
	fs.inos = 1
	fs.settleNames()
	return fs
}

// verdict opens the bytes and tells what came of it: the seqs kept, a torn tail, or the error.
func verdict(b []byte) (Recovery, *memFS, error) {
	fs := onFile(b)
	j, r, err := Open("/d/j", Options{fs: fs, Quiet: -1})
	if err != nil {
		return r, fs, err
	}
	return r, fs, j.Close()
}
