package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"evener/internal/audit"
	"evener/internal/store"
	"evener/journal"
)

// mutations are ways to spoil the files of a state folder. Each says what it did,
// or "" if there was nothing to do it to.
var mutations = []func(r *rand.Rand, files []string) (string, error){
	func(r *rand.Rand, files []string) (string, error) {
		return edit(pick(r, files), func(b []byte) []byte {
			if len(b) > 0 {
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
			return b
		})
	},
	func(r *rand.Rand, files []string) (string, error) {
		return edit(pick(r, files), func(b []byte) []byte {
			n := r.IntN(len(b) + 1)
			return slices.Concat(b[:n], []byte("x"), b[n:])
		})
	},
	func(r *rand.Rand, files []string) (string, error) {
		return edit(pick(r, files), func(b []byte) []byte { return b[:r.IntN(len(b)+1)] })
	},
	func(r *rand.Rand, files []string) (string, error) { // a line is taken away
		return lines(pick(r, files), func(l []string) []string { n := r.IntN(len(l)); return slices.Delete(l, n, n+1) })
	},
	func(r *rand.Rand, files []string) (string, error) { // a line stands twice
		return lines(pick(r, files), func(l []string) []string { return slices.Insert(l, r.IntN(len(l)+1), l[r.IntN(len(l))]) })
	},
	func(r *rand.Rand, files []string) (string, error) { // two lines change places
		return lines(pick(r, files), func(l []string) []string {
			a, b := r.IntN(len(l)), r.IntN(len(l))
			l[a], l[b] = l[b], l[a]
			return l
		})
	},
	func(r *rand.Rand, files []string) (string, error) {
		f := pick(r, files)
		return "removed " + f, os.Remove(f)
	},
	func(r *rand.Rand, files []string) (string, error) { // one file stands in the place of another
		a, b := pick(r, files), pick(r, files)
		if a == b {
			return "", nil
		}
		x, err := os.ReadFile(a)
		if err != nil {
			return "", err
		}
		return a + " in the place of " + b, os.WriteFile(b, x, 0o600)
	},
	func(r *rand.Rand, files []string) (string, error) { // a line of one journal is put into another
		a, b := pick(r, files), pick(r, files)
		x, err := os.ReadFile(a)
		if err != nil || len(x) == 0 {
			return "", err
		}
		from := strings.SplitAfter(strings.TrimSuffix(string(x), "\n"), "\n")
		return lines(b, func(l []string) []string { return slices.Insert(l, r.IntN(len(l)+1), from[r.IntN(len(from))]) })
	},
}

func pick(r *rand.Rand, files []string) string { return files[r.IntN(len(files))] }

func edit(path string, change func([]byte) []byte) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	out := change(bytes.Clone(b))
	if bytes.Equal(out, b) {
		return "", nil
	}
	return fmt.Sprintf("%s: %d bytes became %d", path, len(b), len(out)), os.WriteFile(path, out, 0o600)
}

func lines(path string, change func([]string) []string) (string, error) {
	return edit(path, func(b []byte) []byte {
		if len(b) == 0 {
			return b
		}
		return []byte(strings.Join(change(strings.SplitAfter(strings.TrimSuffix(string(b), "\n")+"\n", "\n")), ""))
	})
}

// Whatever is done to the files of a state folder, verify finds it, or what the
// journals say is still the same. What it cannot find are whole lines missing at the
// very end of a journal, which no other journal was promised, and changed bytes of a
// job's output. The seed of a failure is printed; EVENER_SEED plays it again.
func TestEveryMutationIsFound(t *testing.T) {
	background := func(text string) scripted {
		return scriptedCall("shell", scripted{"command": "echo " + text, "mode": "background"})
	}
	waiting := scriptedCall("shell", scripted{"command": `until grep -qs 'kind=.*report' .evener/sessions/$EVENER_SESSION_ID/session.jsonl; do sleep 0.05; done`})
	dir, evener := built(t, []any{background("built"), scriptedCall("delegate", scripted{"prompt": "Child."}), waiting, scriptedReport("end"), scriptedReport("end"), scriptedReport("end")},
		[]any{background("looked"), scriptedCall("communicate", scripted{"message": "half", "end_turn": false}), scriptedReport("full")})
	for range 2 { // so that files can stand in the place of those of another session
		c := exec.Command(evener, "--model", "script/m.json", "Work.")
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	home := filepath.Join(dir, ".evener", "sessions")
	want, err := said(home)
	if err != nil {
		t.Fatal(err)
	}
	if v := verified(t, home); v.Damaged() || len(v.Journals) != 6 {
		t.Fatalf("before any change: %d journals, %+v", len(v.Journals), v.Findings)
	}
	found, same := 0, 0
	for n := range 1000 {
		r := rand.New(rand.NewPCG(uint64(n), 7))
		copied := filepath.Join(t.TempDir(), "sessions")
		if err := os.CopyFS(copied, os.DirFS(home)); err != nil {
			t.Fatal(err)
		}
		what, err := mutations[n%len(mutations)](r, spoilable(t, copied))
		if err != nil {
			t.Fatal(err)
		}
		v := verified(t, copied)
		switch got, err := said(copied); {
		case v.Damaged():
			found++
		case err != nil:
			t.Errorf("seed %d, %s: verify finds nothing, and the journals cannot be read: %v", n, what, err)
		case !follows(got, want):
			t.Errorf("seed %d, %s: verify finds nothing, and the journals say otherwise", n, what)
		default:
			same++
		}
	}
	if found < 500 {
		t.Errorf("of 1,000 mutations %d were found, and %d changed nothing", found, same)
	}
	t.Logf("%d found, %d changed nothing that is said", found, same)
}

func verified(t *testing.T, sessions string) *audit.Verified {
	t.Helper()
	v := &audit.Verified{}
	if err := v.Folder(store.Home{Sessions: sessions}); err != nil {
		t.Fatal(err)
	}
	for _, f := range v.Findings {
		if !f.Note && (f.Path == "" || f.Text == "") {
			t.Errorf("a finding without a place: %+v", f)
		}
	}
	return v
}

// spoilable are the files that a session consists of.
func spoilable(t *testing.T, sessions string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(sessions, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Base(path) != "lock" {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// said is what the journals say, line by line, by their place.
func said(sessions string) (map[string][]string, error) {
	out := map[string][]string{}
	paths, err := filepath.Glob(filepath.Join(sessions, "*", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		place, _ := filepath.Rel(sessions, p)
		for e, err := range journal.Read(p, journal.Pos{}) {
			if err != nil {
				return nil, err
			}
			line, err := json.Marshal([]any{e.Step, json.RawMessage(e.Line)})
			if err != nil {
				return nil, err
			}
			out[place] = append(out[place], string(line))
		}
	}
	return out, nil
}

// follows reports whether each journal says what it did, up to some line.
func follows(got, want map[string][]string) bool {
	if len(got) != len(want) {
		return false
	}
	for place, l := range got {
		if len(l) > len(want[place]) || !slices.Equal(l, want[place][:len(l)]) {
			return false
		}
	}
	return true
}
