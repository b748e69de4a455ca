package supervisor

import (
	"os"
	"os/signal"
	"testing"

	"evener/internal/proc"
)

func TestMain(m *testing.M) {
	if proc.IsKeeper() { // a tree starts its keeper from this binary
		os.Exit(proc.KeeperMain())
	}
	// The first use of signals starts a goroutine of the library that stays; here, so
	// that no tree is counted for it.
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	os.Exit(m.Run())
}
