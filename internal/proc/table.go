package proc

// process is one row of the system's process table. pid and ticks together
// name a process for the life of the system.
type process struct {
	pid, ppid, pgrp, session int
	ticks                    uint64
	dead                     bool // a zombie, or on its way
}

// table is a look at all processes. It is taken row by row while they run, so it
// is a hint: who acts on it looks again until nothing is found.
type table map[int]process

// childrenOf are the direct children of a process, dead ones included.
func (t table) childrenOf(pid int) []process {
	var out []process
	for _, p := range t {
		if p.ppid == pid {
			out = append(out, p)
		}
	}
	return out
}

// below are the living descendants of root.
func (t table) below(root int) []process {
	return t.belonging(func(p process) bool { return p.ppid == root })
}

// belonging are the living processes that own accepts, or that descend from
// one that it accepts (which may be dead itself).
func (t table) belonging(own func(process) bool) []process {
	verdict := make(map[int]bool, len(t))
	var belongs func(pid int) bool
	belongs = func(pid int) bool {
		p, known := t[pid]
		if !known {
			return false
		}
		v, seen := verdict[pid]
		if !seen {
			verdict[pid] = false // ends a loop that rows of different moments could form
			v = own(p) || belongs(p.ppid)
			verdict[pid] = v
		}
		return v
	}
	var out []process
	for pid, p := range t {
		if belongs(pid) && !p.dead {
			out = append(out, p)
		}
	}
	return out
}

func pids(list []process) []int {
	out := make([]int, len(list))
	for i, p := range list {
		out[i] = p.pid
	}
	return out
}
