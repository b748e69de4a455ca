package cli

import (
	"bytes"
	"flag"
	"strings"
	"testing"
)

// Every flag of every command that takes a value refuses an empty one, in one line.
func TestEmptyValue(t *testing.T) {
	tried := 0
	for _, c := range topics() {
		c.set.VisitAll(func(f *flag.Flag) {
			if isBool(f) {
				return
			}
			tried++
			args := []string{c.name, "-" + f.Name, ""}
			if c.name == "" {
				args = args[1:]
			}
			var out, errs bytes.Buffer
			status := Main(args, strings.NewReader(""), &out, &errs)
			if want := dashed("-"+f.Name) + `: got ""`; status != exitUsage || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), want) {
				t.Errorf("evener %q: status %d, %s", args, status, errs.String())
			}
		})
	}
	if tried < 30 {
		t.Errorf("only %d flags were tried", tried)
	}
}
