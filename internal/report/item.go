package report

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// kind is what an item of the timeline is. The numbers are those of the data.
type kind int

const (
	kindRun      kind = iota // a process that worked on a root session
	kindDelegate             // a run of a delegate
	kindTurn
	kindCall
	kindJob
	kindWatch
	kindNotice
	kinds
)

var kindNames = [kinds]string{"run", "delegate", "turn", "call", "job", "watch", "notice"}

// state is how an item stands. The numbers are those of the data.
type state int

const (
	stateOK state = iota
	stateFailed
	stateOpen    // has not ended
	stateStopped // ended because somebody wanted it to
)

// item is one bar of the timeline, and one record beside it.
type item struct {
	n          int // its place on the page; -1: on none
	kind       kind
	group      *group
	lane       int
	start, end time.Time
	state      state
	name       string // what evener calls it
	label      string // what it is about
	how        string // how it stands, in words
	causeKey   string
	cause      *item
	effects    []*item
	record     any // the folded state of a job, a watch or a delegate's run
	told       *item
}

// took is how long an item took, or takes up to now.
func (x *item) took() time.Duration { return x.end.Sub(x.start) }

func sortByStart(all []*item) {
	slices.SortStableFunc(all, func(a, b *item) int { return a.start.Compare(b.start) })
}

// lanes are numbers of rows, the lowest first.
type lanes []int

func (l lanes) Len() int           { return len(l) }
func (l lanes) Less(i, j int) bool { return l[i] < l[j] }
func (l lanes) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *lanes) Push(x any)        { *l = append(*l, x.(int)) }
func (l *lanes) Pop() any {
	x := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return x
}

// busy are items in their lanes, the one that ends first before all.
type busy []*item

func (b busy) Len() int { return len(b) }
func (b busy) Less(i, j int) bool {
	return cmp.Or(b[i].end.Compare(b[j].end), cmp.Compare(b[i].lane, b[j].lane)) < 0
}
func (b busy) Swap(i, j int) { b[i], b[j] = b[j], b[i] }
func (b *busy) Push(x any)   { *b = append(*b, x.(*item)) }
func (b *busy) Pop() any {
	x := (*b)[len(*b)-1]
	*b = (*b)[:len(*b)-1]
	return x
}

// pack gives items, in the order of their starts, the lowest lane in which nothing
// stands at that time, and tells how many lanes there are.
func pack(all []*item) int {
	var at busy
	var free lanes
	n := 0
	for _, x := range all {
		for len(at) > 0 && !at[0].end.After(x.start) {
			heap.Push(&free, heap.Pop(&at).(*item).lane)
		}
		if len(free) > 0 {
			x.lane = heap.Pop(&free).(int)
		} else {
			x.lane = n
			n++
		}
		heap.Push(&at, x)
	}
	return n
}
