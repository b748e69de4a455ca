//go:build !linux

package joblog

import (
	"errors"
	"os"
)

var errNoPunch = errors.New("holes cannot be punched here")

// Elsewhere logs are compacted, so their start stands in a name and holes need
// not be found.

func punch(*os.File, int64, int64) error { return errNoPunch }

func nextData(_ *os.File, off, _ int64) (int64, error) { return off, nil }

func nextHole(_ *os.File, _, size int64) int64 { return size }

func datasync(f *os.File) error { return f.Sync() }

func preferredBlock(*os.File) int64 { return minBlock }
