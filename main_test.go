// The scripts in testscripts/ drive the real program: this test binary runs
// again under the name evener, with real processes, files and signals.
// testscripts/README.md describes the commands that the scripts have beside
// those of testscript.
package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"evener/internal/cli"
)

var update = flag.Bool("update", false, "rewrite the files that scripts compare with")

func TestMain(m *testing.M) {
	// The scripts mostly wait for processes, so more of them run at once than there are CPUs.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"evener": func() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testscripts", RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *update,
		Setup: setUp, Cmds: commands, Condition: condition,
	})
}

// setUp gives a script a home without settings and, at its end, fails it when
// a process of its is left, or a session that cannot be replayed.
func setUp(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	e.Setenv("HOME", home)
	e.Setenv("TMPDIR", e.WorkDir)
	e.Setenv("BASH_ENV", "")
	if cache, err := os.UserCacheDir(); err == nil { // a Go task need not build the library again
		e.Setenv("GOCACHE", filepath.Join(cache, "go-build"))
	}
	e.Values[runningKey] = map[string]*running{}
	mark := "WORK=" + e.WorkDir
	e.Defer(func() {
		left := settled(mark, "")
		for _, p := range left {
			p.kill()
		}
		if len(left) > 0 {
			e.T().Fatal("processes were left at the end of the script:", left)
		}
		replayed(e)
	})
	return nil
}

// patience bounds every wait of a script for something that is on its way.
const patience = 20 * time.Second
