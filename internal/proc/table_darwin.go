package proc

import (
	"bytes"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB

// scan reads the process table.
func scan() (table, error) {
	rows, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	t := make(table, len(rows))
	for i := range rows {
		p := row(&rows[i])
		t[p.pid] = p
	}
	return t, nil
}

// look reads one row; ok is false when there is no such process any more.
func look(pid int) (p process, ok bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return process{}, false
	}
	return row(k), true
}

func row(k *unix.KinfoProc) process {
	start := k.Proc.P_starttime
	p := process{
		pid: int(k.Proc.P_pid), ppid: int(k.Eproc.Ppid), pgrp: int(k.Eproc.Pgid),
		ticks: uint64(start.Sec)*1e6 + uint64(start.Usec), dead: k.Proc.P_stat == zombie,
	}
	p.session, _ = unix.Getsid(p.pid)
	return p
}

// jobOf is the job id that the process was started with, if any. Processes of
// other users cannot be asked.
func jobOf(pid int) string {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return ""
	}
	for kv := range bytes.SplitSeq(b, []byte{0}) {
		if job, ok := bytes.CutPrefix(kv, []byte(jobVariable+"=")); ok {
			return string(job)
		}
	}
	return ""
}

// children are the direct children of this process, dead ones included.
func children() (list []int, ok bool) {
	t, err := scan()
	if err != nil {
		return nil, false
	}
	for _, p := range t {
		if p.ppid == os.Getpid() {
			list = append(list, p.pid)
		}
	}
	return list, true
}

// BootID names this run of the system.
func BootID() string { return bootID() }

var bootID = sync.OnceValue(func() string {
	s, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return s
})
