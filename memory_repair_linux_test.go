package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What verify and repair take of memory for a damaged journal does not grow with it; a
// stretch without line ends counts as one line of twice the longest there may be. The
// journal has 300 MB, so it is asked for by name:
//
//	EVENER_TEST_LARGE=1 go test -run TestLargeDamage -v .
func TestLargeDamage(t *testing.T) {
	if os.Getenv("EVENER_TEST_LARGE") == "" {
		t.Skip("set EVENER_TEST_LARGE to run it")
	}
	const results, bound = 330, 120
	dir := t.TempDir()
	evener := filepath.Join(dir, "evener")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", evener, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	size := largeSession(t, dir, results, 900_000)
	journals, _ := filepath.Glob(filepath.Join(dir, ".evener/sessions/*/session.jsonl"))
	s := filepath.Base(filepath.Dir(journals[0]))
	t.Logf("%d MB of journal", size>>20)
	look := func(name string, want int, says string, args ...string) {
		cmd := exec.Command(evener, args...)
		cmd.Dir = dir
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		begun := time.Now()
		peak, err := peakOf(cmd)
		status := 0
		if x, ok := errors.AsType[*exec.ExitError](err); ok {
			status = x.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if status != want || !strings.Contains(out.String(), says) {
			t.Errorf("%s: status %d, want %d\n%s", name, status, want, out.String())
		}
		t.Logf("%s: %v, at most %d MB of memory", name, time.Since(begun).Round(time.Millisecond), peak)
		if peak > bound {
			t.Errorf("%s took %d MB, %d at most", name, peak, bound)
		}
	}
	look("verify, undamaged", 0, "ok ", "verify")
	look("repair, undamaged", 0, "nothing to repair", "repair", s)
	f, err := os.OpenFile(journals[0], os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, d := range []struct {
		name string
		at   int64
		data []byte
	}{
		{"one byte near the end", size - 2_000_000, []byte{0}},
		{"one byte in the middle", size / 2, []byte{0}},
		{"a stretch without line ends", size / 4, make([]byte, size/4)},
	} {
		if _, err := f.WriteAt(d.data, d.at); err != nil {
			t.Fatal(err)
		}
		look("verify, "+d.name, 1, "is damaged at line", "verify")
		look("repair, "+d.name, 1, fmt.Sprint("kept in ", journals[0]), "repair", s)
		os.Remove(journals[0] + ".repaired")
	}
}
