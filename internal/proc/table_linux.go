package proc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// scan reads the process table.
func scan() (table, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	t := make(table, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := look(pid); ok {
				t[pid] = p
			}
		}
	}
	return t, nil
}

// look reads one row; ok is false when there is no such process any more.
func look(pid int) (p process, ok bool) {
	b, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, b)
}

// parseStat reads "pid (name) state ppid pgrp session … starttime …". The name
// may hold anything, parentheses and spaces included.
func parseStat(pid int, b []byte) (p process, ok bool) {
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 {
		return process{}, false
	}
	n := func(i int) int { v, _ := strconv.Atoi(string(f[i])); return v }
	p = process{pid: pid, ppid: n(1), pgrp: n(2), session: n(3), dead: strings.Contains("ZXx", string(f[0]))}
	p.ticks, _ = strconv.ParseUint(string(f[19]), 10, 64)
	return p, true
}

// jobOf is the job id that the process was started with, if any. Processes of
// other users cannot be asked.
func jobOf(pid int) string {
	b, err := readProc("/proc/" + strconv.Itoa(pid) + "/environ")
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

// children are the direct children of this process, dead ones included. ok is
// false where the kernel does not list them.
func children() (list []int, ok bool) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, false
	}
	for _, task := range tasks {
		b, err := readProc("/proc/self/task/" + task.Name() + "/children")
		if err != nil {
			if _, gone := os.Stat("/proc/self/task/" + task.Name()); gone != nil {
				continue // the thread ended; its children passed to another
			}
			return nil, false
		}
		for _, f := range bytes.Fields(b) {
			if pid, err := strconv.Atoi(string(f)); err == nil {
				list = append(list, pid)
			}
		}
	}
	return list, true
}

// BootID names this run of the system: start ticks are only comparable within one.
func BootID() string { return bootID() }

var bootID = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
})

// readProc reads a file of /proc with as few calls as there can be: after each
// command dozens of them are read, and os.ReadFile asks four times for flags and
// for what the poller thinks of it.
func readProc(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	b := make([]byte, 0, 1024)
	for {
		n, err := fdReader(fd).Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) == cap(b):
			b = slices.Grow(b, cap(b))
		}
	}
}
