package cli

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
)

// TestManGolden: a small table as the page shows it, with everything that troff
// would take for its own.
func TestManGolden(t *testing.T) {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.String("o", "", "`file` that gets it")
	fs.Bool("json", false, "one object a line")
	odd := command{name: "odd", args: "[-o FILE] NAME...", summary: "what looks like requests", help: ".begins with a dot\n'and with a quote, C:\\path, `x`, ~/y, ^ and ü.\n\n  evener odd -o x   a line as it stands\n\nThe end."}
	var b bytes.Buffer
	printMan(&b, []topic{{command{args: "PROMPT...", summary: "one run", help: "The prompt."}, flag.NewFlagSet("", flag.ContinueOnError)}, {odd, fs}})
	const golden = "testdata/man.golden"
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the page is\n%s", b.String())
	}
}

// TestManHasAll: every command and every flag of the table, in ASCII.
func TestManHasAll(t *testing.T) {
	var b bytes.Buffer
	printMan(&b, topics())
	page := b.String()
	for _, c := range topics() {
		_, part, found := strings.Cut(page, "\n.SS evener "+roff(c.name)+"\n")
		if c.name == "" {
			_, part, found = strings.Cut(page, "\n.SH FLAGS OF A RUN\n")
		}
		if !found {
			t.Errorf("the page has no evener %s", c.name)
		}
		part, _, _ = strings.Cut("\n"+part, "\n.S")
		c.set.VisitAll(func(f *flag.Flag) {
			if strings.Count(part, "\n.TP\n\\fB"+roff(spelled(f))+"\\fR\n") != 1 {
				t.Errorf("evener %s: the page has no %s", c.name, spelled(f))
			}
		})
	}
	for _, r := range page {
		if r > '~' {
			t.Errorf("the page has %q", r)
		}
	}
}
