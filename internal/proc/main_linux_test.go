package proc

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if IsKeeper() {
		os.Exit(KeeperMain())
	}
	if os.Getenv(helperVariable) != "" {
		os.Exit(helper())
	}
	os.Exit(m.Run())
}
