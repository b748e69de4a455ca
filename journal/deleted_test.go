package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that was deleted behind its writer takes lines that nobody will find:
// the next append says so and acknowledges nothing.
func TestDeletedBehindItsWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, err := Create(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := Record{Step: 1, Cause: []byte("{}"), Events: []Event{{Kind: "x", Data: []byte("1")}}}
	if _, err := j.Append(r); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(r); !errors.Is(err, ErrPoisoned) || !strings.Contains(err.Error(), "deleted") {
		t.Errorf("got %v", err)
	}
	_ = j.Close() // it has said what is wrong
}
