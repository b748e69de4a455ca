package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"evener/internal/match"
)

func watchGroups() []group {
	mb := func(what, subject, limit, is string, w want) row {
		return row{what: what, subject: subject, limit: limit, limitIs: is, unit: "MB/s", scale: 1e6, want: w}
	}
	return []group{{name: "watch", sides: watchSides, rows: []row{
		mb("search of output for a literal", "literal", "grep literal", "grep -c of the same file", ratio("≥", 0.5)),
		mb("search for (?i)(ready|blocked|needs input)", "folded", "grep folded", "grep -ciE of the same file", value("≥", 200)),
		mb("search for a pattern without a literal", "none", "grep none", "grep -cE of the same file", want{}),
	}}}
}

// watchPatterns are what is searched, as the watch takes it and as grep does.
var watchPatterns = map[string][3]string{
	"literal": {"READY", "-c", "READY"},
	"folded":  {"(?i)(ready|blocked|needs input)", "-ciE", "ready|blocked|needs input"},
	"none":    {"[0-9]{3}[:;][0-9]{3}", "-cE", "[0-9]{3}[:;][0-9]{3}"},
}

// watchSides search a log of a build for what stands in it once in 50,000 lines.
func watchSides(e *env) ([]side, error) {
	file := filepath.Join(e.dir, "watched")
	size := e.size(256<<20, 16<<20)
	if err := writeLog(file, size); err != nil {
		return nil, err
	}
	var sides []side
	for _, name := range []string{"literal", "folded", "none"} {
		p := watchPatterns[name]
		sides = append(sides,
			side{name, func(*env) (values, error) { return rateOf(name, size, func() error { return searchLog(file, p[0]) }) }},
			side{"grep " + name, func(*env) (values, error) {
				return rateOf("grep "+name, size, func() error {
					_, err := exec.Command("grep", p[1], p[2], file).Output() // with its output thrown away it would stop at the first match
					return err
				})
			}})
	}
	return sides, nil
}

func writeLog(file string, size int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for n, i := 0, 0; n < size; i++ {
		line := fmt.Sprintf("[%6d/9999] compiling module %d of the program, %d ms\n", i%9999, i, i%731)
		if i%50_000 == 49_999 {
			line = "the server is READY at 127:001\n"
		}
		n += len(line)
		w.WriteString(line)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func rateOf(name string, size int, work func() error) (values, error) {
	began := time.Now()
	if err := work(); err != nil {
		return nil, fmt.Errorf("%s: %w", strings.TrimSpace(name), err)
	}
	return values{name: float64(size) / time.Since(began).Seconds()}, nil
}

// searchLog searches as the follower of a watch does: by pieces of a file.
func searchLog(file, pattern string) error {
	p, err := match.Compile(pattern)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	found := 0
	m := p.From(0, func(match.Occurrence) bool { found++; return true })
	buf, off := make([]byte, 64<<10), int64(0)
	for {
		n, err := f.Read(buf)
		m.Add(off, buf[:n])
		off += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	m.Finish()
	if found == 0 {
		return fmt.Errorf("%q was not found", pattern)
	}
	return nil
}
