// Package worktree gives a delegate a git worktree of its own: its files on a
// branch of its own, beside the repository's and without touching them.
//
// Rules:
//
//   - A folder that cannot have one is refused in one line, before anything is
//     made; what fails half-way leaves neither folder nor branch.
//   - git is evener's own command here, so nothing that the repository's
//     configuration names may run: no hook, no filter, no file-system monitor,
//     no transport. A file that a filter makes, such as one of Git LFS, so
//     stands in the worktree as it is stored, and submodules are empty.
//   - Nothing is lost unasked: a worktree with changes is removed only where
//     that is demanded, as is one whose commits are on no branch, and a branch
//     with commits of its own stays always.
//   - A maker that is killed leaves a note from which the rest is reclaimed.
//   - The user's index, branches and files are not touched; a look writes nothing.
package worktree

// Worktree is one, as its maker remembers it.
type Worktree struct {
	Path   string `json:"path"`     // absolute
	Dir    string `json:"dir"`      // the folder in it that answers to the one it was made for
	Branch string `json:"branch"`   // the branch that it was made with
	Base   string `json:"base_sha"` // the commit that it was made at
	Git    string `json:"git_dir"`  // the repository's own git folder, absolute
}

// Evidence is what a worktree holds now.
type Evidence struct {
	Path         string `json:"path"`
	Branch       string `json:"branch"` // empty: HEAD is detached
	HeadSHA      string `json:"head_sha"`
	AheadCommits int    `json:"ahead_commits"` // of HEAD, since it was made
	Dirty        bool   `json:"dirty"`         // uncommitted changes, files that git does not know, or a checked-out submodule
	Loose        bool   `json:"-"`             // HEAD is detached at a commit that no branch or tag leads to
}
