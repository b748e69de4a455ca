package store

import (
	"os"
	"path/filepath"
	"strings"
)

// mountBelow is a mount point at or below a folder, or "": what it shows is not
// the folder's, and would be removed with it.
func mountBelow(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(table)) { // "36 35 98:0 /root /mount/point options …"
		w := strings.Fields(line)
		if len(w) < 5 {
			continue
		}
		at := mountName.Replace(w[4])
		if at == real || strings.HasPrefix(at, real+"/") {
			return at
		}
	}
	return ""
}

// mountName undoes how the table writes what would split its words.
var mountName = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
