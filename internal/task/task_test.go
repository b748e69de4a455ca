package task

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"evener/internal/fault"
)

// many are n items that are good.
func many(n int) []Item {
	items := make([]Item, n)
	for i := range items {
		items[i] = Item{Title: fmt.Sprint("t", i+1)}
	}
	return items
}

// folded is a list of n tasks, of which those named are closed, in that order.
func folded(t *testing.T, n int, closed ...int64) *State {
	t.Helper()
	s := &State{}
	e, err := Seed("task_list", many(n))
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, e)
	for _, c := range closed {
		must(t, s, Changed{ID: c, State: Done})
	}
	return s
}

func must(t *testing.T, s *State, e Event) {
	t.Helper()
	if err := s.Apply(e); err != nil {
		t.Fatal(err)
	}
}

func ids(s *State) (out []int64) {
	for _, x := range s.All() {
		out = append(out, x.ID)
	}
	return out
}

func TestSeed(t *testing.T) {
	got, err := Seed("task_list", []Item{
		{Title: " Reproduce\n", Prompt: "\nRun it.\n  Keep the output.\n"},
		{Title: "Report", Prompt: "Say why.", Type: " research "},
	})
	want := Seeded{Tasks: []Step{
		{ID: 1, Title: "Reproduce", Prompt: "Run it.\n  Keep the output."},
		{ID: 2, Title: "Report", Prompt: "Say why.", Type: "research"},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	s := &State{}
	must(t, s, got)
	if s.Open() != 2 || len(s.All()) != 2 || s.All()[1].Stage != Pending {
		t.Errorf("folded: %+v", s)
	}
	if got, err := Seed("task_list", nil); err != nil || got.Tasks != nil {
		t.Errorf("nothing: %+v, %v", got, err)
	}
}

// What is wrong with items is said of seeded and added ones alike.
func TestItemsRefused(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	for _, c := range []struct {
		items []Item
		want  string
	}{
		{[]Item{{Title: "a"}, {Title: " \n"}}, `items[1].title is empty; say in a few words what is to be done`},
		{[]Item{{Title: long(200)}, {Title: long(201)}}, `items[1].title has 201 characters; 200 at most, the rest belongs in prompt`},
		{[]Item{{Title: "a", Type: long(51)}}, `items[0].type has 51 characters; 50 at most`},
		{[]Item{{Title: "a", Prompt: strings.Repeat("x", 8192)}, {Title: "b", Prompt: strings.Repeat("x", 8193)}}, `items[1].prompt has 8193 bytes; 8192 at most`},
		{slicesOf(9, Item{Title: "a", Prompt: strings.Repeat("x", 8192)}), `the prompts of items have more than 65536 bytes together`},
	} {
		_, seed := Seed("items", c.items)
		_, add := Add(&State{}, "items", c.items)
		for _, err := range []*fault.Error{seed, add} {
			if err == nil || err.Code != fault.InvalidRequest || err.Text != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		}
	}
	if _, err := Seed("items", slicesOf(8, Item{Title: "a", Prompt: strings.Repeat("x", 8192)})); err != nil {
		t.Errorf("64 KiB of prompts: %v", err)
	}
	if _, err := Seed("task_list", many(101)); err == nil || err.Text != "task_list has 101 tasks; a list holds 100" {
		t.Errorf("101 tasks: %v", err)
	}
	if _, err := Seed("task_list", many(100)); err != nil {
		t.Errorf("100 tasks: %v", err)
	}
}

func slicesOf(n int, x Item) (out []Item) {
	for range n {
		out = append(out, x)
	}
	return out
}

func TestAdd(t *testing.T) {
	for _, c := range []struct {
		what   string
		have   int
		closed []int64
		add    int
		first  int64
		left   []int64
		want   string
	}{
		{what: "to an empty list", add: 2, first: 1},
		{what: "behind others", have: 3, closed: []int64{2}, add: 1, first: 4},
		{what: "up to the bound", have: 98, closed: []int64{2}, add: 2, first: 99},
		{what: "past it: the earliest closed leave", have: 99, closed: []int64{7, 3, 5}, add: 3, first: 100, left: []int64{7, 3}},
		{what: "open ones never leave", have: 99, closed: []int64{7, 3}, add: 4, want: "items has 4 tasks and 97 are open; a list holds 100: finish or drop some first"},
		{what: "none", have: 1, want: "items is empty; name at least one task"},
	} {
		s := folded(t, c.have, c.closed...)
		e, err := Add(s, "items", many(c.add))
		if c.want != "" {
			if err == nil || err.Text != c.want {
				t.Errorf("%s: %v, want %s", c.what, err, c.want)
			}
			continue
		}
		if err != nil || len(e.Tasks) != c.add || e.Tasks[0].ID != c.first || !reflect.DeepEqual(e.Left, c.left) {
			t.Errorf("%s: %+v, %v", c.what, e, err)
			continue
		}
		must(t, s, e)
		if len(s.All()) > MaxTasks || s.Open() != c.have+c.add-len(c.closed) {
			t.Errorf("%s: %d tasks, %d open", c.what, len(s.All()), s.Open())
		}
		if len(c.left) > 0 {
			if _, err := Get(s, c.left[0]); err == nil || err.Text != fmt.Sprintf("task %d left the list to make room", c.left[0]) {
				t.Errorf("%s: %v", c.what, err)
			}
		}
	}
}

func TestUpdate(t *testing.T) {
	for _, c := range []struct {
		what string
		id   int64
		to   Stage
		note string
		want Changed
		new  bool
		err  string
	}{
		{"a state", 1, InProgress, "", Changed{1, InProgress, ""}, true, ""},
		{"a state and a note", 1, Done, " all green ", Changed{1, Done, "all green"}, true, ""},
		{"a note alone", 3, "", "half", Changed{3, InProgress, "half"}, true, ""},
		{"closed and opened again", 2, Pending, "", Changed{2, Pending, ""}, true, ""},
		{"from done to dropped", 2, Dropped, "", Changed{2, Dropped, ""}, true, ""},
		{"the same state", 2, Done, "", Changed{2, Done, ""}, false, ""},
		{"the same note", 2, "", "ok", Changed{2, Done, ""}, false, ""},
		{"the same state, a new note", 2, Done, "better", Changed{2, Done, "better"}, true, ""},
		{"nothing", 2, "", " ", Changed{}, false, "invalid_request: neither state nor note is given; give the new state, a note, or both"},
		{"a long note", 1, Done, strings.Repeat("é", 501), Changed{}, false, "invalid_request: note has 501 characters; 500 at most"},
		{"a task that is not there", 4, Done, "", Changed{}, false, "target_not_found: no task 4; the latest is 3"},
		{"a negative one", -1, Done, "", Changed{}, false, "target_not_found: no task -1; the latest is 3"},
	} {
		s := folded(t, 3)
		must(t, s, Changed{ID: 2, State: Done, Note: "ok"})
		must(t, s, Changed{ID: 3, State: InProgress})
		before := s.Clone()
		e, isNew, err := Update(s, c.id, c.to, c.note)
		if e != c.want || isNew != c.new || fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
			t.Errorf("%s: %+v, %v, %v", c.what, e, isNew, err)
		}
		if !reflect.DeepEqual(*s, before) {
			t.Errorf("%s: the decision changed the list", c.what)
		}
		if isNew {
			must(t, s, e)
			x, _ := s.Find(c.id)
			if x.Stage != e.State || e.Note != "" && x.Note != e.Note || c.id == 2 && e.Note == "" && x.Note != "ok" {
				t.Errorf("%s: folded to %+v", c.what, x)
			}
		}
	}
	if _, _, err := Update(&State{}, 1, Done, ""); err == nil || err.Text != "no task 1: the list is empty" {
		t.Errorf("of an empty list: %v", err)
	}
}

// Numbers are never used again, also when the list was full more than once.
func TestNumbersStay(t *testing.T) {
	s := folded(t, 100, 100, 1)
	for range 2 {
		e, err := Add(s, "items", many(1))
		if err != nil {
			t.Fatal(err)
		}
		must(t, s, e)
	}
	if got := ids(s); len(got) != 100 || got[0] != 2 || got[97] != 99 || got[98] != 101 || got[99] != 102 {
		t.Errorf("numbers: %v", got)
	}
	// One that was opened again stays.
	must(t, s, Changed{ID: 50, State: Dropped})
	must(t, s, Changed{ID: 50, State: Pending})
	if _, err := Add(s, "items", many(1)); err == nil {
		t.Error("an open task made room")
	}
}

func TestApplyFails(t *testing.T) {
	for _, c := range []struct {
		what string
		e    Event
	}{
		{"seeded behind others", Seeded{Tasks: []Step{{ID: 4, Title: "x"}}}},
		{"a number that is taken", Added{Tasks: []Step{{ID: 3, Title: "x"}}}},
		{"a number that was skipped", Added{Tasks: []Step{{ID: 5, Title: "x"}}}},
		{"an open task that leaves", Added{Left: []int64{2}}},
		{"one that leaves twice", Added{Left: []int64{1, 1}}},
		{"a change of nothing", Changed{ID: 9, State: Done}},
		{"an unknown state", Changed{ID: 2, State: "later"}},
		{"no event", nil},
	} {
		if err := folded(t, 3, 1).Apply(c.e); err == nil {
			t.Errorf("%s was folded", c.what)
		}
	}
}

func TestTexts(t *testing.T) {
	s := &State{}
	e, err := Seed("task_list", []Item{{Title: "Reproduce", Prompt: "Run it.\n\n  Keep\tthe output."}, {Title: "Report\n<now>", Type: "research"}, {Title: "Clean"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := Text(s) + Brief(s.All()) + Rest(s); got != "no tasksopen: 0 of 0" {
		t.Errorf("nothing: %q", got)
	}
	must(t, s, e)
	const brief = "Your task list, in this order:\n\n1. Reproduce\n   Run it.\n\n     Keep\tthe output.\n2. Report <now> (research)\n3. Clean"
	if got := Brief(s.All()); got != brief {
		t.Errorf("brief:\n%s", got)
	}
	must(t, s, Changed{ID: 1, State: Done, Note: "fails\nalways"})
	must(t, s, Changed{ID: 2, State: InProgress})
	for what, c := range map[string][2]string{
		"text":   {Text(s), "3 tasks, 2 open.\n1 done Reproduce - fails always\n2 in_progress Report <now> (research)\n3 pending Clean"},
		"detail": {Detail(s.All()[0]), "1 done Reproduce\nnote: fails\nalways\n\nRun it.\n\n  Keep\tthe output."},
		"rest":   {Rest(s), "open: 2 of 3; next: 3 Clean"},
		"brief":  {Brief(s.All()[1:]), "Your task list, in this order:\n\n2. Report <now> (research) [in_progress]\n3. Clean"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %q\nwant  %q", what, c[0], c[1])
		}
	}
	must(t, s, Changed{ID: 3, State: Dropped})
	if got := Rest(s); got != "open: 1 of 3" {
		t.Errorf("rest: %q", got)
	}
}
