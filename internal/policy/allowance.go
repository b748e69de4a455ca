package policy

import (
	"fmt"

	"evener/internal/fault"
)

// Allowance is what a child may delegate onward: one level less than its
// creator's own allowance, or what the creator asked for, if that is less than
// its own. The chain so always shortens. Absent and an explicit 0 are distinct:
// 0 makes a leaf. A leaf has no delegate tool; a call that comes all the same
// is refused whatever it asks for.
func Allowance(own int64, asked *int64) (int64, *fault.Error) {
	switch {
	case own <= 0:
		return 0, fault.Invalid("delegate is not available at delegation_allowance 0: a leaf does its task itself and reports with communicate")
	case asked == nil:
		return own - 1, nil
	case *asked < 0 || *asked >= own:
		return 0, fault.Invalid("delegation_allowance must be less than your own allowance (%d); valid grants: %s", own, grantable(own))
	}
	return *asked, nil
}

// grantable are the values that a session with this allowance may give.
func grantable(own int64) string {
	if own == 1 {
		return "0"
	}
	return fmt.Sprintf("0..%d", own-1)
}
