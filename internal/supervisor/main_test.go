package supervisor

import (
	"os"
	"testing"

	"evener/internal/proc"
)

func TestMain(m *testing.M) {
	if proc.IsKeeper() { // a tree starts its keeper from this binary
		os.Exit(proc.KeeperMain())
	}
	os.Exit(m.Run())
}
