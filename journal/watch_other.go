//go:build !linux

package journal

import "context"

// Watch looks at intervals: this system's way to tell of changes is not used.
type Watch struct{}

// NewWatch makes one.
func NewWatch() *Watch { return &Watch{} }

// File adds a file.
func (*Watch) File(string) {}

// Folder adds a folder, for the names that appear there.
func (*Watch) Folder(string) {}

// Wait returns when something may have changed, or with the error of the context.
func (*Watch) Wait(ctx context.Context) error { return pause(ctx) }

// Close ends it.
func (*Watch) Close() error { return nil }
