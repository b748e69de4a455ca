package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"evener/internal/enclosure"
	"evener/internal/store"
)

const maxAgents = 1 << 20 // bytes that are read; the prompt takes less

// agentsFile finds the nearest AGENTS.md at or above a folder, inside its
// repository. What stands under the name and may not be read is passed over,
// and warned of: a cloned repository decides what stands there.
func agentsFile(dir string, warn func(string)) (content, path string) {
	root := store.Repository(dir)
	bounds := root
	if root == "" {
		bounds = dir
	}
	for d := dir; ; d = filepath.Dir(d) {
		p := filepath.Join(d, "AGENTS.md")
		b, err := enclosure.Read(p, bounds, maxAgents)
		switch {
		case err == nil:
			return string(b), p
		case !errors.Is(err, fs.ErrNotExist):
			warn(fmt.Sprintf("%s is ignored: %v", p, err))
		}
		if d == root || root == "" {
			return "", ""
		}
	}
}
