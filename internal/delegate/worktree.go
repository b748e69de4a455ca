package delegate

// Worktree is the git worktree of a delegate that has one, as it was made.
type Worktree struct {
	Path   string `json:"path"`     // absolute, in the scratch folder of the tree
	Dir    string `json:"dir"`      // the folder in it that answers to its owner's
	Branch string `json:"branch"`   // delegate/dlg_...
	Base   string `json:"base_sha"` // the commit that it was made at
	Git    string `json:"git_dir"`  // the repository's own git folder, absolute
}

// Evidence is what the worktree of a stopped delegate holds. Where it could not
// be read, only Error is beside the path and the branch it was made with.
type Evidence struct {
	Path         string `json:"path"`
	Branch       string `json:"branch"` // empty: HEAD is detached
	HeadSHA      string `json:"head_sha,omitempty"`
	AheadCommits int    `json:"ahead_commits"` // of HEAD, since it was made
	Dirty        bool   `json:"dirty"`         // changes that are not committed
	Error        string `json:"error,omitempty"`
}

// Worktrees are those that delegates were given, by the delegate.
func (t *Tree) Worktrees(yield func(*State, Worktree) bool) {
	for d := range t.All {
		if w := d.Descriptor.Worktree; w != nil && !yield(d, *w) {
			return
		}
	}
}
