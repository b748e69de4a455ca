package journal

import (
	"errors"
	"math/rand"
	"testing"

	"pgregory.net/rapid"
)

// machine drives a journal through anything that may happen to it, with the
// oracle beside it: appends of both kinds, faults, a full disk, an orderly
// close, a kill, a power cut.
type machine struct {
	fs    *faultFS
	o     *oracle
	j     *Journal
	open  []pending
	last  Pos
	small bool // the disk has been small since the opening
}

type pending struct {
	t    *Ticket
	asks []*ask
}

func (m *machine) sizes(t *rapid.T) []int {
	return rapid.SliceOfN(rapid.IntRange(0, 900), 1, 4).Draw(t, "sizes")
}

func (m *machine) Append(t *rapid.T) {
	if m.j == nil {
		t.Skip("closed")
	}
	m.allow(t, m.o.append(m.j, m.sizes(t)...))
	m.collect(t)
}

func (m *machine) AppendAsync(t *rapid.T) {
	if m.j == nil {
		t.Skip("closed")
	}
	var recs []Record
	var asks []*ask
	for _, n := range m.sizes(t) {
		r, a := m.o.next(n)
		recs, asks = append(recs, r), append(asks, a)
	}
	m.open = append(m.open, pending{m.j.AppendAsync(recs...), asks})
}

// collect learns the outcomes, in order.
func (m *machine) collect(t *rapid.T) {
	for _, p := range m.open {
		_, err := p.t.Wait()
		m.o.settle(err, p.asks...)
		m.allow(t, err)
	}
	m.open = nil
}

// allow takes an error only if a fault was set or the disk is small.
func (m *machine) allow(t *rapid.T, err error) {
	if err != nil && m.fs.struck() == "" && !m.small {
		t.Fatalf("no fault, yet: %v", err)
	}
}

func (m *machine) Fault(t *rapid.T) {
	how := rapid.SampledFrom(faults).Draw(t, "fault")
	m.fs.arm(how, rapid.IntRange(1, 12).Draw(t, "in"), rapid.Bool().Draw(t, "sticky"))
}

func (m *machine) Small(t *rapid.T) {
	m.fs.memFS.mu.Lock()
	defer m.fs.memFS.mu.Unlock()
	if m.fs.room = 0; rapid.Bool().Draw(t, "small") {
		m.small = true
		m.fs.room = 1
		m.fs.room = 1 - m.fs.free() + int64(rapid.IntRange(0, 3000).Draw(t, "room"))
	}
}

func (m *machine) Close(t *rapid.T) {
	if m.j == nil {
		t.Skip("closed")
	}
	err := m.j.Close()
	m.collect(t)
	m.allow(t, err)
	m.j = nil
}

func (m *machine) crash(t *rapid.T, power bool) {
	if power {
		m.fs.powerCut(rand.New(rand.NewSource(rapid.Int64().Draw(t, "image"))))
	} else {
		m.fs.kill()
	}
	if m.j != nil {
		m.j.Close()
		for _, p := range m.open {
			// An answer that came before the cut counts; one from a dead handle is none.
			if _, err := p.t.Wait(); err == nil || errors.Is(err, ErrFull) {
				m.o.settle(err, p.asks...)
			}
		}
	}
	m.open, m.j = nil, nil
}

func (m *machine) Kill(t *rapid.T)     { m.crash(t, false) }
func (m *machine) PowerCut(t *rapid.T) { m.crash(t, true) }

// Reopen opens on a disk that is well again.
func (m *machine) Reopen(t *rapid.T) {
	if m.j != nil {
		t.Skip("open")
	}
	m.fs.forget()
	m.fs.memFS.mu.Lock()
	m.fs.room = 0
	m.fs.memFS.mu.Unlock()
	m.small = false
	j, err := m.o.reopen(m.fs, m.fs.bytes)
	if err != nil {
		t.Fatal(err)
	}
	m.j, m.last = j, Pos{}
}

// Check: what was acknowledged lies within the durable part, which only grows.
func (m *machine) Check(t *rapid.T) {
	if m.j == nil {
		return
	}
	d, size := m.j.Durable(), int64(len(m.fs.bytes(m.o.path)))
	if d.Off < m.last.Off || d.Off > size {
		t.Fatalf("durable %+v after %+v, file of %d bytes", d, m.last, size)
	}
	m.last = d
}

func TestAnythingMayHappen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{fs: &faultFS{memFS: newMemFS("/d")}, o: &oracle{path: "/d/j"}}
		j, err := Create(m.o.path, Options{fs: m.fs, Quiet: -1})
		if err != nil {
			t.Fatal(err)
		}
		m.j, m.o.created = j, true
		t.Repeat(rapid.StateMachineActions(m))
		if m.j == nil {
			m.Reopen(t)
		}
		if err := m.j.Close(); m.fs.struck() == "" && !m.small && err != nil {
			t.Fatal(err)
		}
	})
}
