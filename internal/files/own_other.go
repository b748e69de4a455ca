//go:build !linux

package files

import "os"

// ownProcess: no file tells of this process.
func ownProcess(*os.File, int64) bool { return false }
