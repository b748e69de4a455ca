// Package layout keeps the packages in their order. Arrows never turn back:
// the core is pure and knows nothing of the shell, nouns do not know each
// other, and processes, connections and goroutines each have few homes.
package layout

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	ground = "id fault text effect match"
	nouns  = "job watch delegate attention transcript policy task"
	core   = ground + " " + nouns + " session tree"
	shell  = core + " journal store joblog proc model tool config evidence files schema enclosure regular role worktree"
)

// imports lists, for each package, the packages of this module that it may
// import. A package without a row has no place yet.
var imports = map[string]string{
	"id": "", "fault": "", "text": "", "match": "", "effect": "delegate id",
	"job": ground, "watch": ground + " match", "delegate": ground, "attention": ground, "transcript": ground, "policy": ground, "task": ground,
	"session": ground + " " + nouns,
	"tree":    ground + " " + nouns + " session",

	"journal": "", "joblog": "id text regular", "model": ground + " transcript regular pattern", "config": "enclosure regular pattern", "schema": "text", "enclosure": "", "regular": "",
	"role":       ground + " policy enclosure pattern",
	"worktree":   ground + " proc",
	"proc":       ground + " joblog watch",
	"store":      core + " journal regular",
	"evidence":   core + " joblog store",
	"files":      core,
	"tool":       core + " schema",
	"report":     core + " store evidence",
	"supervisor": shell + " match",
	"audit":      core + " journal store joblog",
	"bundle":     ground + " journal store joblog pattern",
	"plugin":     ground, "hook": ground + " plugin",
	"term": "text pattern", "about": "", "pattern": "",
	"host": shell + " supervisor audit plugin hook",
	"cli":  shell + " supervisor audit bundle report plugin hook host term about pattern",
	"main": "cli",

	"layout": "", "clauses": "", "demo": "", "dist": "", "soak": "",
}

// pure is what the core may use beside its own packages: nothing that reads
// or writes the world, waits, or locks.
var pure = strings.Fields(`bytes cmp crypto/sha256 encoding/base64 encoding/binary encoding/hex encoding/json errors fmt hash/crc32
	html iter maps math math/bits regexp regexp/syntax slices sort strconv strings time unicode unicode/utf16 unicode/utf8
	github.com/oklog/ulid/v2`)

// impure are the functions of those packages that reach the world after all.
var impure = strings.Fields(`time.Now time.Since time.Until time.Sleep time.After time.AfterFunc time.Tick time.NewTimer time.NewTicker
	time.LoadLocation time.Local fmt.Print fmt.Printf fmt.Println fmt.Scan fmt.Scanf fmt.Scanln
	ulid.Make ulid.Now ulid.MustNew ulid.DefaultEntropy`)

// homes are the only packages that may import these.
var homes = map[string]string{
	"os/exec": "proc demo soak", // demo and soak drive the built program from outside
	"net":     "model host soak", "net/http": "model host soak", "crypto/tls": "model host", "os/signal": "cli proc soak", "flag": "cli config clauses demo dist soak",
	"go.yaml.in/yaml/v3":                       "role",   // the front matter of files that people and other programs write
	"github.com/santhosh-tekuri/jsonschema/v6": "schema", // whose rules keep it from loading anything
}

// goroutines may be started in these packages. Whoever starts one joins it.
const goroutines = "supervisor proc model host soak"

// goFiles are the single files beside them that may, with the reason.
var goFiles = map[string]string{
	"journal/journal.go":      "starts the one writer of a journal, which syncs while its callers go on",
	"internal/cli/signals.go": "signals arrive beside the run; the goroutine is joined before the end",
	"internal/cli/gone.go":    "a reader of the output goes away beside the wait for lines; the goroutine is joined before the end",
	"internal/term/screen.go": "one goroutine writes to the terminal, which may be held up; Close joins it",
	"internal/store/lock.go":  "flock cannot be given a limit; a wait that runs out is left behind by a program that exits",
}

// The core does no I/O and takes no lock; so a walk over the sessions of a tree holds none.
//
// clause: JC-606
func TestLayout(t *testing.T) {
	checked := 0
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		if d.IsDir() {
			if rel != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"vendor", "testdata", "bin"}, d.Name()) || ownModule(file)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		checked++
		for _, fault := range check(filepath.ToSlash(rel), src) {
			t.Error(fault)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 20 {
		t.Errorf("only %d files were looked at", checked)
	}
}

func ownModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// check lists the faults of one source file; name is its path from the root.
func check(name string, src []byte) (faults []string) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, src, 0)
	if err != nil {
		return []string{err.Error()}
	}
	pkg := path.Dir(strings.TrimPrefix(name, "internal/"))
	if pkg == "." {
		pkg = "main"
	}
	allowed, known := imports[pkg]
	if !known {
		return []string{fmt.Sprintf("%s: package %s has no row in internal/layout", name, pkg)}
	}
	in := func(list, item string) bool { return slices.Contains(strings.Fields(list), item) }
	bad := func(at token.Pos, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s: ", set.Position(at))+fmt.Sprintf(format, args...))
	}
	for _, spec := range f.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		own, ours := strings.CutPrefix(strings.TrimPrefix(p, "evener/internal/"), "evener/")
		ours = ours || strings.HasPrefix(p, "evener/")
		if !ours {
			own = ""
		}
		switch {
		case ours && !in(allowed, own):
			bad(spec.Pos(), "%s may not import %s", pkg, own)
		case !ours && in(core, pkg) && !slices.Contains(pure, p):
			bad(spec.Pos(), "%s is of the core and may not import %s", pkg, p)
		case !ours && pkg == "journal" && strings.Contains(p, "."):
			bad(spec.Pos(), "journal uses the standard library only, not %s", p)
		case homes[p] != "" && !in(homes[p], pkg):
			bad(spec.Pos(), "only %s may import %s", homes[p], p)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.CallExpr:
			if starts(n) && !in(goroutines, pkg) && goFiles[name] == "" {
				bad(n.Pos(), "%s may not start goroutines", pkg)
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			call := x.Name + "." + n.Sel.Name
			if in(core, pkg) && slices.Contains(impure, call) {
				bad(n.Pos(), "%s is of the core and may not use %s", pkg, call)
			}
			if slices.Contains([]string{"os.StartProcess", "syscall.ForkExec", "syscall.StartProcess"}, call) && pkg != "proc" {
				bad(n.Pos(), "only proc starts processes")
			}
		}
		return true
	})
	return faults
}

// starts reports whether a node starts a goroutine: a go statement, the Go
// method of a group, or a timer with a function.
func starts(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return true
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, _ := s.X.(*ast.Ident)
	return s.Sel.Name == "Go" || s.Sel.Name == "AfterFunc" && x != nil && x.Name == "time"
}

func TestLayoutFindsFaults(t *testing.T) {
	for _, c := range []struct{ file, body, want string }{
		{"internal/job/a.go", `import "evener/internal/effect"`, ""},
		{"internal/job/a.go", `import "evener/internal/attention"`, "job may not import attention"},
		{"internal/job/a.go", `import "evener/journal"`, "job may not import journal"},
		{"internal/job/a.go", `import "evener/internal/store"`, "job may not import store"},
		{"internal/session/a.go", `import "evener/internal/job"`, ""},
		{"internal/session/a.go", `import "evener/internal/tree"`, "session may not import tree"},
		{"internal/tree/a.go", `import "os"`, "may not import os"},
		{"internal/tree/a.go", `import "sync"`, "may not import sync"},
		{"internal/tree/a.go", `import "context"`, "may not import context"},
		{"internal/tree/a.go", `import "time"; var x = time.Second`, ""},
		{"internal/tree/a.go", `import "time"; var x = time.Now()`, "may not use time.Now"},
		{"internal/tree/a.go", `import "time"; func f() { time.AfterFunc(0, f) }`, "may not use time.AfterFunc"},
		{"internal/id/a.go", `import "github.com/oklog/ulid/v2"; var x = ulid.Make()`, "may not use ulid.Make"},
		{"internal/fault/a.go", `import "fmt"; func f() { fmt.Println() }`, "may not use fmt.Println"},
		{"internal/store/a.go", `import "evener/internal/supervisor"`, "store may not import supervisor"},
		{"internal/tool/a.go", `import "evener/internal/supervisor"`, "tool may not import supervisor"},
		{"internal/supervisor/a.go", `import "evener/internal/tool"; func f() { go f() }`, ""},
		{"internal/joblog/a.go", `func f() { go f() }`, "joblog may not start goroutines"},
		{"internal/cli/a.go", `func f() { go f() }`, "cli may not start goroutines"},
		{"internal/store/a.go", `import "sync"; var g sync.WaitGroup; func f() { g.Go(f) }`, "store may not start goroutines"},
		{"internal/store/a.go", `import "time"; func f() { time.AfterFunc(0, f) }`, "store may not start goroutines"},
		{"internal/proc/a.go", `import "net"`, "only model host soak may import net"},
		{"journal/journal.go", `func f() { go f() }`, ""},
		{"journal/reader.go", `func f() { go f() }`, "journal may not start goroutines"},
		{"journal/reader.go", `import "golang.org/x/sys/unix"`, "standard library only"},
		{"journal/reader.go", `import "evener/internal/fault"`, "journal may not import fault"},
		{"internal/proc/a.go", `import "os/exec"`, ""},
		{"internal/model/a.go", `import "os/exec"`, "only proc demo soak may import os/exec"},
		{"internal/cli/a.go", `import "net/http"`, "only model host soak may import net/http"},
		{"internal/cli/a.go", `import "os"; func f() { os.StartProcess("", nil, nil) }`, "only proc starts processes"},
		{"internal/util/a.go", ``, "package util has no row"},
		{"main.go", `import "evener/internal/cli"`, ""},
		{"main.go", `import "evener/internal/store"`, "main may not import store"},
	} {
		got := strings.Join(check(c.file, []byte("package p\n"+c.body)), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %q, want %q", c.file, c.body, got, c.want)
		}
	}
}
