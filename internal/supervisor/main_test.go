package supervisor

import (
	"os"
	"os/signal"
	"testing"
)

func TestMain(m *testing.M) {
	// The first use of signals starts a goroutine of the library that stays; here, so
	// that no tree is counted for it.
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	os.Exit(m.Run())
}
