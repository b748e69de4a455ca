// Command clauses tells which clauses of the contract are proved by a test.
//
// docs/clauses.tsv numbers them: id, source, lines, area, clause, kind, with
// tabs between. A clause of the kind must, must-not or wording asks for a
// proof; gap and non-goal record what is left out.
//
// A test that would fail without a clause says so: a comment
// "// clause: JC-017 JC-018" in a _test.go file, or a line
// "# clause: JC-017" in a .txtar file.
//
// docs/clauses-complete names areas, one a line. In such an area every clause
// that asks for a proof has a mark, or a row in docs/clauses-open.md,
// "| id | feature | why |", which names the feature that it waits for.
//
//	go run ./internal/clauses [-v] [ROOT]
//
// Exit status: 0, or 1 when a mark names no clause, an open row is wrong or
// not needed any more, or a complete area has a hole.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	verbose := flag.Bool("v", false, "print the text of each clause without a proof")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	r, err := read(root)
	if err != nil {
		fmt.Fprintf(os.Stderr, "clauses: %v\n", err)
		os.Exit(1)
	}
	r.print(os.Stdout, *verbose)
	problems := r.problems()
	for _, p := range problems {
		fmt.Fprintf(os.Stderr, "clauses: %s\n", p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// A report is everything that was read.
type report struct {
	clauses  []clause
	marks    map[string][]string // clause id → places, FILE:LINE
	faults   []string            // of the files' form
	open     map[string]row
	complete []string
}

type clause struct{ id, area, text, kind string }

// proof reports whether the clause asks for one.
func (c clause) proof() bool { return c.kind == "must" || c.kind == "must-not" || c.kind == "wording" }

type row struct{ at, feature string }

// problems are what makes the check fail.
func (r *report) problems() []string {
	all := slices.Clone(r.faults)
	known := map[string]clause{}
	areas := map[string]bool{}
	for _, c := range r.clauses {
		known[c.id] = c
		areas[c.area] = true
	}
	for id, places := range r.marks {
		if _, ok := known[id]; !ok {
			all = append(all, fmt.Sprintf("%s: no clause %s", places[0], id))
		}
	}
	for id, o := range r.open {
		switch c, ok := known[id]; {
		case !ok:
			all = append(all, fmt.Sprintf("%s: no clause %s", o.at, id))
		case !c.proof():
			all = append(all, fmt.Sprintf("%s: %s is of the kind %s and asks for no proof", o.at, id, c.kind))
		case len(r.marks[id]) > 0:
			all = append(all, fmt.Sprintf("%s: %s is proved at %s; take the row off", o.at, id, r.marks[id][0]))
		case o.feature == "":
			all = append(all, fmt.Sprintf("%s: %s names no feature", o.at, id))
		}
	}
	for _, area := range r.complete {
		if !areas[area] {
			all = append(all, fmt.Sprintf("docs/clauses-complete: no area %s", area))
		}
		for _, c := range r.clauses {
			if _, open := r.open[c.id]; c.area == area && c.proof() && len(r.marks[c.id]) == 0 && !open {
				all = append(all, fmt.Sprintf("area %s is complete but %s has no proof: %s", area, c.id, c.text))
			}
		}
	}
	slices.Sort(all)
	return all
}

// print writes one line an area and, below it, what has no proof.
func (r *report) print(w io.Writer, verbose bool) {
	byArea := map[string][]clause{}
	for _, c := range r.clauses {
		byArea[c.area] = append(byArea[c.area], c)
	}
	covered, total := 0, 0
	for _, area := range slices.Sorted(maps.Keys(byArea)) {
		var proved, needed int
		var missing []clause
		for _, c := range byArea[area] {
			switch {
			case len(r.marks[c.id]) > 0:
				proved++
				needed++
			case c.proof():
				needed++
				missing = append(missing, c)
			}
		}
		covered, total = covered+proved, total+needed
		state := ""
		if slices.Contains(r.complete, area) {
			state = "  complete"
		}
		fmt.Fprintf(w, "%-16s %3d of %3d%s\n", area, proved, needed, state)
		r.printMissing(w, missing, verbose)
	}
	fmt.Fprintf(w, "%-16s %3d of %3d\n", "all", covered, total)
}

// printMissing names clauses without a proof; "+" stands after an open one.
func (r *report) printMissing(w io.Writer, missing []clause, verbose bool) {
	line := ""
	for _, c := range missing {
		id := c.id
		if o, ok := r.open[c.id]; ok {
			id += "+"
			c.text += " [" + o.feature + "]"
		}
		if verbose {
			fmt.Fprintf(w, "    %-8s %s\n", id, c.text)
			continue
		}
		if len(line)+len(id) > 100 {
			fmt.Fprintf(w, "   %s\n", line)
			line = ""
		}
		line += " " + id
	}
	if line = strings.TrimRight(line, " "); line != "" {
		fmt.Fprintf(w, "   %s\n", line)
	}
}
