package files

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A rule is one line of a .gitignore.
type rule struct {
	glob
	not   bool   // !: what an earlier rule excludes is not excluded after all
	plain string // a name without wildcards that counts at any depth: the commonest rule
}

// rules are the lines of one .gitignore; they count for what is below its folder.
type rules struct {
	base []string // parts of the folder's path
	list []rule
}

// parseRules reads a .gitignore as git does.
func parseRules(content string) (out []rule) {
	for line := range strings.SplitSeq(strings.TrimPrefix(content, bom), "\n") {
		line = trimSpaces(strings.TrimSuffix(line, "\r"))
		var r rule
		if line == "" || line[0] == '#' || len(line) > mostRuleLine {
			continue
		}
		if len(out) == mostRules {
			break
		}
		line, r.not = strings.CutPrefix(line, "!")
		if line == "" || line == "/" {
			continue
		}
		r.glob = parseGlob(line)
		if !strings.ContainsAny(line, `*?[\`) && len(r.parts) == 2 && r.parts[0] == "**" && !strings.Contains(strings.TrimSuffix(line, "/"), "/") {
			r.plain = r.parts[1]
		}
		out = append(out, r)
	}
	return out
}

// trimSpaces takes spaces from the end, but for one behind a backslash.
func trimSpaces(s string) string {
	end := len(s)
	for end > 0 && s[end-1] == ' ' {
		slashes := 0
		for i := end - 2; i >= 0 && s[i] == '\\'; i-- {
			slashes++
		}
		if slashes%2 == 1 {
			break
		}
		end--
	}
	return s[:end]
}

// ignores are the rules that count in a folder, the nearest last.
type ignores []rules

// excluded reports whether a path is ignored. The last rule that matches decides,
// of the nearest file that has one.
func (ig ignores) excluded(path []string, folder bool) bool {
	name := path[len(path)-1]
	for _, rs := range slices.Backward(ig) {
		below := path[len(rs.base):]
		for _, r := range slices.Backward(rs.list) {
			if r.folder && !folder {
				continue
			}
			if r.plain != "" && r.plain == name || r.plain == "" && r.match(below) {
				return !r.not
			}
		}
	}
	return false
}

// with adds the .gitignore of a folder, if it has one.
func (ig ignores) with(dir string) ignores {
	list := readRules(filepath.Join(dir, ".gitignore"))
	if len(list) == 0 {
		return ig
	}
	return append(slices.Clip(ig), rules{split(dir), list})
}

// Bounds of a .gitignore: what stands behind them does not count. Somebody else
// may have written it, and each entry of a folder is held against each rule.
const (
	mostRules    = 10_000
	mostRuleLine = 4096 // bytes; no path is longer
)

func readRules(path string) []rule {
	f, _, err := name{path: path}.open()
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostRules*100))
	if err != nil {
		return nil
	}
	return parseRules(string(b))
}

// above are the rules that count for a folder before its own: those of the
// repository that it is in.
func above(dir string) (ig ignores) {
	top := repository(dir)
	if top == "" {
		return nil
	}
	if list := readRules(exclude(top)); len(list) > 0 {
		ig = append(ig, rules{split(top), list})
	}
	way := []string{}
	for d := dir; d != top; d = filepath.Dir(d) {
		way = append(way, filepath.Dir(d))
	}
	for _, d := range slices.Backward(way) {
		ig = ig.with(d)
	}
	return ig
}

func repository(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return ""
		}
	}
}

// exclude is the repository's own list. In a worktree .git is a file that says
// where the repository is.
func exclude(top string) string {
	git := filepath.Join(top, ".git")
	if b, err := os.ReadFile(git); err == nil {
		to, _ := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
		if git = to; !filepath.IsAbs(git) {
			git = filepath.Join(top, git)
		}
		if b, err := os.ReadFile(filepath.Join(git, "commondir")); err == nil {
			common := strings.TrimSpace(string(b))
			if !filepath.IsAbs(common) {
				common = filepath.Join(git, common)
			}
			git = common
		}
	}
	return filepath.Join(git, "info", "exclude")
}

// split gives the parts of an absolute path.
func split(path string) []string {
	if path = strings.Trim(path, "/"); path == "" {
		return nil
	}
	return strings.Split(path, "/")
}
