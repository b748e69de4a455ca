package report

import "encoding/json"

// table is the timeline for the script: a column for each property of the items,
// which takes a fraction of what an object for each would, and is read at once.
type table struct {
	From   int64      `json:"from"` // ms since 1970
	To     int64      `json:"to"`
	Kinds  []string   `json:"kinds"`
	Groups []tableRow `json:"groups"`
	Start  []int64    `json:"start"` // ms behind from
	Took   []int64    `json:"took"`  // ms
	Lane   []int      `json:"lane"`
	State  []state    `json:"state"`
	Cause  []int      `json:"cause"` // an item, or -1
	Name   []int      `json:"name"`  // of texts
	Label  []int      `json:"label"`
	How    []int      `json:"how"`
	Texts  []string   `json:"texts"` // each once: most are said often
}

// tableRow is a group. Its items of one kind stand side by side.
type tableRow struct {
	Name   string `json:"name"`
	Depth  int    `json:"depth"`
	Parent int    `json:"parent"`
	// Rows hold, of each kind that there is: the kind, the first item, the one behind
	// the last, and how many lanes they take.
	Rows [][4]int `json:"rows"`
}

// data is the table as JSON in which there is no <, > or &, so that it can neither
// end its element nor be read as markup.
func data(p *Page) []byte {
	first, last := span(p)
	t := table{From: first.UnixMilli(), To: last.UnixMilli(), Kinds: kindNames[:], Groups: []tableRow{}, Start: []int64{}, Took: []int64{}, Lane: []int{},
		State: []state{}, Cause: []int{}, Name: []int{}, Label: []int{}, How: []int{}, Texts: []string{}}
	known := map[string]int{}
	text := func(s string) int {
		n, ok := known[s]
		if !ok {
			n = len(t.Texts)
			known[s], t.Texts = n, append(t.Texts, printable(s))
		}
		return n
	}
	for _, g := range p.groups {
		row := tableRow{Name: printable(name(g)), Depth: g.depth, Parent: g.parent, Rows: [][4]int{}}
		for k, of := range g.byKind {
			if len(of) > 0 {
				row.Rows = append(row.Rows, [4]int{k, of[0].n, of[0].n + len(of), g.lanes[k]})
			}
		}
		t.Groups = append(t.Groups, row)
	}
	for _, x := range p.items {
		cause := -1
		if x.cause != nil {
			cause = x.cause.n
		}
		t.Start, t.Took, t.Lane = append(t.Start, x.start.UnixMilli()-t.From), append(t.Took, x.end.UnixMilli()-x.start.UnixMilli()), append(t.Lane, x.lane)
		t.State, t.Cause = append(t.State, x.state), append(t.Cause, cause)
		name := x.name
		if x.cause != nil && x.kind == kindNotice { // which has it in its own name
			name = ""
		}
		t.Name, t.Label, t.How = append(t.Name, text(name)), append(t.Label, text(x.label)), append(t.How, text(x.how))
	}
	b, err := json.Marshal(t)
	if err != nil {
		panic("report: the data does not encode: " + err.Error()) // plain values
	}
	return b
}
