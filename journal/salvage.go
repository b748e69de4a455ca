package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"
)

// SalvageReport says what Salvage found and what it could not find.
type SalvageReport struct {
	Kept    int64   // lines that were copied
	Lost    []Range // seqs that are not readable, each range with both ends
	Skipped int64   // whole lines that fit nowhere: repeated, or from another file
	Bytes   int64   // of the source that are in no line copied, its line 1 aside
	Last    Pos     // the last line of the new file
}

// Range is a range of seqs, both ends included.
type Range struct{ First, Last int64 }

// maxGap bounds how many lines in a row may be lost. A whole line that claims
// more is taken for one from another file.
const maxGap = 1 << 20

// Salvage reads a damaged journal and makes a new one at dst that opens cleanly.
// Every line of src that verifies is copied as it stands, with its seq, so that
// what names it by seq still finds it; a line that is lost is replaced by a
// journal.lost with its seq. Line 1 is written anew, since dst is another file:
// it names src's file id. What src had behind its last whole line is left out.
// src is only read; dst must not exist. If src holds no whole line behind line 1,
// the new journal holds its header only.
func Salvage(src, dst string) (r SalvageReport, err error) { return SalvageEdited(src, dst, nil) }

// Edit changes what a line says: the data of an event, or its cause, whose kind is
// "". What it returns must be JSON as Record wants it. b is not to be kept.
type Edit func(kind string, b []byte) ([]byte, error)

// SalvageEdited is Salvage with cause and data of each record passed through edit. The
// new journal says that it was edited. All of it follows from src and edit, so
// making it again gives the same bytes.
func SalvageEdited(src, dst string, edit Edit) (r SalvageReport, err error) {
	f, err := osFS{}.open(src, syscall.O_RDONLY, 0)
	if err != nil {
		return r, fmt.Errorf("salvage journal: %w", err)
	}
	defer func() { err = errors.Join(err, closeFile(f, src)) }()
	info, err := f.stat()
	if err != nil {
		return r, pathError("stat", src, err)
	}
	plan, err := planSalvage(f, info.size)
	if err != nil {
		return r, fmt.Errorf("salvage journal %s: %w", src, err)
	}
	plan.edits(edit)
	if dst, err = filepath.Abs(dst); err != nil {
		return r, fmt.Errorf("salvage journal: %w", err)
	}
	out, err := publish(osFS{}, dst, func(w file) (size int64, err error) {
		plan.report.Last, err = plan.copyTo(w)
		return plan.report.Last.Off, err
	})
	if err != nil {
		return r, fmt.Errorf("salvage journal to %s: %w", dst, err)
	}
	return plan.report, closeFile(out, dst)
}

// salvage is what a first walk over the file found, for the second to copy.
type salvage struct {
	f      file
	size   int64
	head   Header // for the new file
	report SalvageReport
	edit   Edit

	source   Header // line 1 of the source
	sourceAt time.Time
	at       time.Time // of line 1
}

// edits makes the copy an edited one. Its identity is derived from the source's.
func (p *salvage) edits(edit Edit) {
	p.at = time.Now()
	if edit == nil {
		return
	}
	id := sha256.Sum256([]byte("edited copy of " + p.head.Salvaged.FileID))
	p.edit, p.head.FileID, p.head.Salvaged.Edited = edit, hex.EncodeToString(id[:16]), true
	p.head.BootID, p.at = p.source.BootID, p.sourceAt
}

// edited is a record as the edit has it.
func (p *salvage) edited(e *Entry) ([]byte, error) {
	r := Record{Step: e.Step}
	var err error
	if r.Cause, err = p.edit("", e.Cause); err != nil {
		return nil, err
	}
	for kind, data := range e.Events() {
		if data, err = p.edit(kind, data); err != nil {
			return nil, err
		}
		if !validCompact(data) {
			return nil, fmt.Errorf("line %d: the edit of %s is not compact JSON: %w", e.Seq, kind, ErrInvalid)
		}
		r.Events = append(r.Events, Event{Kind: kind, Data: data})
	}
	if !validCompact(r.Cause) || r.Cause[0] != '{' {
		return nil, fmt.Errorf("line %d: the edit of its cause is no compact object: %w", e.Seq, ErrInvalid)
	}
	line := appendLine(nil, e.Seq, e.Batch, appendBody(nil, &r, e.At()))
	if len(line) > MaxLine {
		return nil, fmt.Errorf("line %d: %w", e.Seq, ErrTooLong)
	}
	return line, nil
}

func planSalvage(f file, size int64) (*salvage, error) {
	p := &salvage{f: f, size: size, head: Header{Format: format, FileID: newFileID(), BootID: bootID()}}
	from := &SalvagedFrom{Through: 1}
	p.head.Salvaged = from
	p.report.Bytes = size
	skipped, err := p.each(p.readHead, func(prev, e *Entry) error {
		if e.Seq > prev.Seq+1 {
			p.report.Lost = append(p.report.Lost, Range{prev.Seq + 1, e.Seq - 1})
			from.Lost += e.Seq - prev.Seq - 1
		}
		p.report.Kept++
		p.report.Bytes -= int64(len(e.Line)) + 1
		from.Through = e.Seq
		return nil
	})
	p.report.Skipped = skipped
	return p, err
}

// readHead takes from line 1 of the source what the new one repeats.
func (p *salvage) readHead(e *Entry) error {
	s := scanner{}
	switch err := s.readHeader(e); {
	case errors.Is(err, ErrFormat):
		return err
	case err == nil:
		p.head.Owner, p.head.Salvaged.FileID = s.head.Owner, s.head.FileID
		p.source, p.sourceAt = s.head, e.At()
		p.report.Bytes -= int64(len(e.Line)) + 1
	}
	return nil
}

// each walks over the whole lines: head gets line 1 if it stands first, keep each
// further one that can follow the one kept before it. The others are counted.
func (p *salvage) each(head func(*Entry) error, keep func(prev, e *Entry) error) (skipped int64, err error) {
	w := newWindow(p.f, 0, p.size)
	w.max = 2 * MaxLine
	prev := Entry{Seq: 1, Batch: 1}
	for {
		seg, whole, err := w.line()
		if err != nil {
			return skipped, err
		}
		var e Entry
		switch {
		case !whole && len(seg) < w.max:
			return skipped, nil
		case !whole:
			w.skip(len(seg) - MaxLine)
		case !wholeLine(&e, seg):
		case e.Seq == 1 && w.off == int64(len(e.Line))+1:
			err = head(&e)
		case e.Seq <= prev.Seq || e.Seq-prev.Seq > maxGap || e.Batch <= prev.Seq && e.Batch != prev.Batch:
			skipped++
		default:
			err = keep(&prev, &e)
			prev.Seq, prev.Batch = e.Seq, e.Batch
		}
		if err != nil {
			return skipped, err
		}
	}
}

// wholeLine finds the line that verifies at the end of a stretch without newlines.
func wholeLine(e *Entry, seg []byte) bool {
	for {
		i := bytes.Index(seg, []byte(lineStart))
		if i < 0 {
			return false
		}
		if seg = seg[i:]; sealed(seg) && e.parse(seg) {
			return true
		}
		seg = seg[len(lineStart):]
	}
}

// copyTo writes the new file and returns where its last line ends.
func (p *salvage) copyTo(w file) (last Pos, err error) {
	buf := appendLine(nil, 1, 1, ownBody(kindCreated, p.head, p.at))
	last.Seq = 1
	flush := func() error {
		last.Off += int64(len(buf))
		err := writeAll(w, buf)
		buf = buf[:0]
		return err
	}
	_, err = p.each(func(*Entry) error { return nil }, func(prev, e *Entry) error {
		for seq := prev.Seq + 1; seq < e.Seq; seq++ {
			// A lost line belongs to the write of the next line that is there, if that
			// write had begun by then; else to one of its own.
			batch := seq
			if e.Batch < seq {
				batch = e.Batch
			}
			buf = appendLine(buf, seq, batch, ownBody(kindLost, struct{}{}, e.At()))
		}
		if p.edit == nil || e.Own() {
			buf = append(append(buf, e.Line...), '\n')
		} else if line, err := p.edited(e); err != nil {
			return err
		} else {
			buf = append(buf, line...)
		}
		last.Seq = e.Seq
		if len(buf) < batchBytes {
			return nil
		}
		return flush()
	})
	if err != nil {
		return last, err
	}
	return last, flush()
}
