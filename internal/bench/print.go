package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// printer shows rows as they come.
type printer struct {
	out      io.Writer
	json, md bool
	machine  string
}

var columns = []string{"what", "subject", "limit", "ratio (min–max)", "target", "met"}

// widths of the plain table, in characters; the last column needs none.
var widths = []int{58, 18, 46, 22, 12, 0}

func (p printer) head() {
	switch {
	case p.json:
		b, _ := json.Marshal(map[string]string{"machine": p.machine}) // strings always encode
		fmt.Fprintf(p.out, "%s\n", b)
	case p.md:
		fmt.Fprintf(p.out, "%s\n\n| %s |\n|%s\n", p.machine, strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	default:
		fmt.Fprintln(p.out, p.machine)
		p.plain(columns)
	}
}

func (p printer) row(r result) {
	switch {
	case p.json:
		p.jsonRow(r)
	case p.md:
		row := cells(r)
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", "\\|")
		}
		fmt.Fprintf(p.out, "| %s |\n", strings.Join(row, " | "))
	default:
		p.plain(cells(r))
	}
}

func (p printer) plain(cells []string) {
	var b strings.Builder
	for i, c := range cells {
		b.WriteString(c)
		b.WriteString(strings.Repeat(" ", max(0, widths[i]-len([]rune(c)))+2))
	}
	fmt.Fprintln(p.out, strings.TrimRight(b.String(), " "))
}

func cells(r result) []string {
	target := "–"
	if r.want.sign != "" {
		target = r.want.sign + " " + number(r.want.bound)
		if r.want.ofValue {
			target += unit(r.unit)
		} else {
			target += " ×"
		}
	}
	if r.rounds == 0 {
		why := "no rounds"
		if r.err != nil {
			why = r.err.Error()
		}
		return []string{r.what, "–", r.limitIs, "–", target, strings.ReplaceAll(why, "\n", "; ")}
	}
	limit, times := r.limitIs, "–"
	if r.limit != "" {
		limit += ": " + number(r.limitValue/r.div()) + unit(r.unit)
		times = fmt.Sprintf("%s (%s–%s)", number(r.ratio), number(r.min), number(r.max))
	}
	if limit == "" {
		limit = "–"
	}
	met := "–"
	switch {
	case r.err != nil:
		met = strings.ReplaceAll(r.err.Error(), "\n", "; ")
	case r.want.sign != "" && r.want.met(r.judged()):
		met = "yes"
	case r.want.sign != "":
		met = "**no**"
	}
	return []string{r.what, number(r.value/r.div()) + unit(r.unit), limit, times, target, met}
}

func unit(s string) string {
	if s == "" {
		return ""
	}
	return " " + s
}

// number shows three digits that count.
func number(x float64) string {
	switch a := math.Abs(x); {
	case x == math.Trunc(x) && a < 1000:
		return fmt.Sprintf("%.0f", x)
	case a >= 1000:
		return thousands(int64(math.Round(x)))
	case a >= 100:
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// rounded is x with as many digits as number shows.
func rounded(x float64) float64 {
	switch a := math.Abs(x); {
	case a >= 100:
		return math.Round(x)
	case a >= 10:
		return math.Round(x*10) / 10
	}
	return math.Round(x*100) / 100
}

func thousands(n int64) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return thousands(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

func (p printer) jsonRow(r result) {
	o := map[string]any{"group": r.group, "what": r.what, "unit": r.unit, "rounds": r.rounds, "limit_is": r.limitIs}
	if r.rounds > 0 {
		o["subject"] = r.value / r.div()
		if r.limit != "" {
			o["limit"], o["ratio"], o["ratio_min"], o["ratio_max"] = r.limitValue/r.div(), r.ratio, r.min, r.max
		}
	}
	if r.want.sign != "" {
		o["target"] = map[string]any{"of_ratio": !r.want.ofValue, "sign": r.want.sign, "bound": r.want.bound}
		o["met"] = r.rounds > 0 && r.err == nil && r.want.met(r.judged())
	}
	if r.err != nil {
		o["error"], o["skipped"] = r.err.Error(), errors.Is(r.err, errSkip)
	}
	b, err := json.Marshal(o)
	if err != nil {
		b = []byte(`{"error":"row does not encode"}`)
	}
	fmt.Fprintf(p.out, "%s\n", b)
}

// machine says where and when the figures were taken.
func machine(e *env) string {
	var u syscall.Utsname
	kernel := "?"
	if syscall.Uname(&u) == nil {
		var b []byte
		for _, c := range u.Release {
			if c == 0 {
				break
			}
			b = append(b, byte(c))
		}
		kernel = string(b)
	}
	s := fmt.Sprintf("%s, %d × %s, Linux %s, %s, %s, %d rounds", time.Now().UTC().Format("2006-01-02 15:04 MST"),
		runtime.NumCPU(), cpuModel(), kernel, fileSystem(e.dir), runtime.Version(), e.rounds)
	if e.quick {
		s += ", quick: not to judge by"
	}
	return s
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return runtime.GOARCH
}

func fileSystem(dir string) string {
	var st syscall.Statfs_t
	if syscall.Statfs(dir, &st) != nil {
		return "unknown file system"
	}
	switch st.Type {
	case 0xef53:
		return "ext4"
	case 0x58465342:
		return "xfs"
	case 0x9123683e:
		return "btrfs"
	case 0x01021994:
		return "tmpfs (its syncs cost nothing: choose a disk with -dir)"
	}
	return fmt.Sprintf("file system %#x", st.Type)
}
