package fault

import "testing"

// The codes that callers branch on are spelled as the contract has them.
//
// clause: JC-120
func TestCodes(t *testing.T) {
	for c, want := range map[Code]string{
		InvalidRequest: "invalid_request", PermissionRequired: "permission_required", TargetNotFound: "target_not_found",
		TargetNotMessageable: "target_not_messageable", TargetTerminal: "target_terminal", TargetNotResumable: "target_not_resumable",
		TargetNotWatchable: "target_not_watchable", NotControllable: "not_controllable",
	} {
		if got := New(c, "shell: no").Error(); got != want+": shell: no" {
			t.Errorf("%s is told as %q", want, got)
		}
	}
}
