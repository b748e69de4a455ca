package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// temporary is TMPDIR of what is played.
const temporary = "tmp"

// layout is every file that a tree may leave.
var layout = regexp.MustCompile(`^\.evener/(\.gitignore|config\.json|sessions/[0-9A-Z]{26}/` +
	`(meta\.json|lock|(session|delegates)\.jsonl(\.torn-\d+)?|jobs/(job_[0-9A-Z]{32})\.log|files/[0-9a-f]{64}))$`)

var unborn = regexp.MustCompile(`^\.evener/sessions/[0-9A-Z]{26}/\.session\.jsonl\.new-\w+$`)

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// files holds what is in the folder against the layout: names, kinds, jobs on record, and
// locks that nobody holds.
func (t *tree) files(r record) {
	err := filepath.WalkDir(t.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(t.dir, path)
		if err != nil {
			return err
		}
		found := layout.FindStringSubmatch(name)
		switch {
		case unborn.MatchString(name) && !exists(filepath.Join(filepath.Dir(path), "session.jsonl")):
			// A session whose creation was killed: no process knows of it.
		case found == nil || !d.Type().IsRegular():
			t.fault("a file is left: %s (%s)", name, d.Type())
		case found[5] != "" && r.ids["job.intended "+found[5]] == 0:
			t.fault("output is left of a job that is not on record: %s", name)
		case d.Name() == "lock" && !free(path):
			t.fault("a lock is held: %s", name)
		}
		return nil
	})
	if err != nil {
		t.fault("%v", err)
	}
}

func free(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // and with it the lock
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
