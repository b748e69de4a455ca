package proc

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if IsKeeper() {
		os.Exit(KeeperMain())
	}
	os.Exit(m.Run())
}
