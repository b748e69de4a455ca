package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

func pumpGroups() []group {
	mb := func(what, subject, limit, is string) row {
		return row{what: what, subject: subject, limit: limit, limitIs: is, unit: "MB/s", scale: 1e6, want: ratio("≥", 0.90)}
	}
	return []group{
		{name: "output", sides: outputSides, rows: []row{
			mb("job output to its log, yes | head", "yes log", "yes file", "the command into a file"),
			mb("job output to its log, head of /dev/zero", "zero log", "zero file", "the command into a file"),
			mb("– with a cap above the volume, yes | head", "yes kept", "yes file", "the command into a file"),
			mb("– with a cap above the volume, head of /dev/zero", "zero kept", "zero file", "the command into a file"),
		}},
		{name: "output-memory", sides: outputMemorySides, rows: []row{
			{what: "peak memory after 2 GiB of output", subject: "large", limit: "small", limitIs: "after 64 MiB", unit: "MiB", scale: 1 << 20, want: ratio("≤", 1.2)},
		}},
	}
}

// printers are commands that print as fast as they can.
var printers = map[string]string{"yes": "yes | head -c %d", "zero": "head -c %d /dev/zero"}

// stamped is a command that notes its own begin and end in a file, so that what
// comes before and after it does not count.
func stamped(kind string, bytes int, stamps string) string {
	return fmt.Sprintf("s=$EPOCHREALTIME; "+printers[kind]+"; echo $s $EPOCHREALTIME > %s", bytes, stamps)
}

func stampedRate(stamps string, bytes int) (float64, error) {
	b, err := os.ReadFile(stamps)
	if err != nil {
		return 0, err
	}
	from, to, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	start, err1 := strconv.ParseFloat(from, 64)
	end, err2 := strconv.ParseFloat(to, 64)
	if err1 != nil || err2 != nil || end <= start {
		return 0, fmt.Errorf("stamps %q", b)
	}
	return float64(bytes) / (end - start), nil
}

func outputSides(e *env) ([]side, error) {
	if _, err := exec.LookPath("bash"); err != nil {
		return nil, skip("no bash")
	}
	var sides []side
	for _, kind := range []string{"yes", "zero"} {
		sides = append(sides, side{kind + " file", func(e *env) (values, error) { return intoFile(e, kind) }},
			side{kind + " log", func(e *env) (values, error) { return intoLog(e, kind, "log", "{}") }},
			side{kind + " kept", func(e *env) (values, error) { return intoLog(e, kind, "kept", `{"output_cap_bytes": 4294967296}`) }})
	}
	return sides, nil
}

func intoFile(e *env, kind string) (values, error) {
	dir, err := e.sub("output")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	size, stamps := e.size(512<<20, 32<<20), filepath.Join(dir, "stamps")
	c := exec.Command("bash", "-c", stamped(kind, size, stamps))
	c.Stdout = out
	if err := c.Run(); err != nil {
		return nil, err
	}
	rate, err := stampedRate(stamps, size)
	return values{kind + " file": rate}, err
}

// intoLog runs the command as a foreground call of a session.
func intoLog(e *env, kind, name, config string) (values, error) {
	dir, err := e.sub("output")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := configure(dir, config); err != nil {
		return nil, err
	}
	size, stamps := e.size(512<<20, 32<<20), filepath.Join(dir, "stamps")
	if _, err := e.runSession(dir, answers(reply{calls: []call{shell(stamped(kind, size, stamps), "")}}, done)); err != nil {
		return nil, err
	}
	rate, err := stampedRate(stamps, size)
	return values{kind + " " + name: rate}, err
}

// configure writes the settings of a project.
func configure(dir, config string) error {
	if err := os.MkdirAll(filepath.Join(dir, ".evener"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ".evener", "config.json"), []byte(config), 0o600)
}

// outputMemorySides compare the peak of the process that takes the output, its
// buffers and the end of the output that a result shows included.
func outputMemorySides(*env) ([]side, error) {
	peak := func(name string, full, quick int) side {
		return side{name, func(e *env) (values, error) {
			dir, err := e.sub("output")
			if err != nil {
				return nil, err
			}
			defer os.RemoveAll(dir)
			var bytes float64
			_, err = e.runSession(dir, func(s *session1, r request) reply {
				if r.n == 1 {
					return reply{calls: []call{shell(fmt.Sprintf(printers["zero"], e.size(full, quick)), "")}}
				}
				bytes = memory(s.cmd.Process.Pid, "VmHWM")
				return done
			})
			return values{name: bytes}, err
		}}
	}
	return []side{peak("small", 64<<20, 16<<20), peak("large", 2<<30, 128<<20)}, nil
}
