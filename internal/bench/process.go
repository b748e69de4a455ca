package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memory is a figure of /proc/PID/status in bytes; 0 if it cannot be read.
func memory(pid int, name string) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(l, name+":"); ok {
			kib, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(v), " kB"), 64) // 0 is told by the caller
			return kib * 1024
		}
	}
	return 0
}

// ticks is the CPU time that a process has used, in clock ticks of 10 ms.
func ticks(pid int) float64 {
	f := stat(pid)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return user + system
}

// stat is /proc/PID/stat behind the name, from the state on.
func stat(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
}

// keeperOf finds the one child of evener: the keeper of its jobs.
func keeperOf(pid int) (int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, s := range stats {
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(s)))
		if f := stat(child); err == nil && len(f) > 1 && f[1] == strconv.Itoa(pid) {
			return child, nil
		}
	}
	return 0, fmt.Errorf("process %d has no child", pid)
}
