//go:build !linux

package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// mountBelow is a mount point at or below a folder, or "": what it shows is not
// the folder's, and would be removed with it. It is known by its device.
func mountBelow(dir string) string {
	device := func(p string) (int64, bool) {
		info, err := os.Lstat(p)
		if err != nil {
			return 0, false
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		return int64(st.Dev), ok
	}
	own, ok := device(filepath.Dir(dir))
	found := ""
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			if dev, known := device(p); ok && known && dev != own {
				found = p
				return fs.SkipAll
			}
		}
		return nil // what cannot be read cannot be removed either
	})
	return found
}
