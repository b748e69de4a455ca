package journal

import (
	"bytes"
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
func Salvage(src, dst string) (r SalvageReport, err error) {
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
	buf := appendLine(nil, 1, 1, ownBody(kindCreated, p.head, time.Now()))
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
		buf = append(append(buf, e.Line...), '\n')
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
