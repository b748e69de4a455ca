package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func rec(step int64, text string) Record {
	return Record{Step: step, Cause: []byte(`{"kind":"test"}`),
		Events: []Event{{Kind: "test.said", Data: fmt.Appendf(nil, `{"text":%q}`, text)}}}
}

func kindsOf(t *testing.T, path string) (kinds []string) {
	t.Helper()
	j, _, err := Open(path, Options{Quiet: -1, Visit: func(e Entry) error {
		for k := range e.Events() {
			kinds = append(kinds, k)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return kinds
}

func TestLife(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "j.jsonl")
	j, err := Create(path, Options{Version: "v1", Quiet: -1, Owner: []byte(`{"session":"S"}`)})
	if err != nil {
		t.Fatal(err)
	}
	t1 := j.AppendAsync(rec(1, "one"), rec(2, "two"))
	pos, err := j.Append(rec(3, "three"))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := t1.Wait(); err != nil || p.Seq != 4 {
		t.Fatal(p, err)
	}
	if pos != j.Durable() || pos.Seq != 5 {
		t.Fatal(pos, j.Durable())
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "journal.created journal.opened test.said test.said test.said journal.closed"
	if got := strings.Join(kindsOf(t, path), " "); got != want {
		t.Errorf("kinds %q, want %q", got, want)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("opening and closing wrote something: %v", err)
	}
	t.Logf("%s", before)
}
