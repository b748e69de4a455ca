package cli

import (
	"flag"
	"fmt"
	"strconv"
	"time"

	"evener/internal/id"
	"evener/internal/store"
)

// atFlag adds --at, for a look at the past.
func atFlag(fs *flag.FlagSet) *string {
	return fs.String("at", "", "how it was right after decision `N|TIME`: a step of the tree's, or a time such as 2026-01-31T09:30:00Z")
}

// lookAt makes reads of a state folder see nothing behind the decision that at
// names, in the tree of a session. Empty is the present. bad says why it names none.
func lookAt(h *store.Home, s id.Session, at string) (bad string, err error) {
	if at == "" {
		return "", nil
	}
	step, stepErr := strconv.ParseInt(at, 10, 64)
	then, timeErr := time.Parse(time.RFC3339Nano, at)
	switch {
	case stepErr == nil && step < 1:
		return fmt.Sprintf("--at %s is no decision; the first is 1", at), nil
	case stepErr != nil && timeErr != nil:
		return fmt.Sprintf("--at %q is neither a decision's number nor a time; use the step of a line of evener log, or a time such as 2026-01-31T09:30:00Z", at), nil
	}
	root, err := h.TreeOf(s)
	if err != nil {
		return "", err
	}
	var first time.Time
	last, found := int64(0), int64(0)
	for l, err := range store.Lines(*h, root) {
		if err != nil {
			return "", err
		}
		if l.Own() {
			continue
		}
		if last = l.Step; first.IsZero() {
			first = l.At()
		}
		if stepErr == nil && l.Step <= step || stepErr != nil && !l.At().After(then) {
			found = l.Step
		}
	}
	switch {
	case stepErr == nil && step > last:
		return fmt.Sprintf("--at %d: the last decision of session %s is %d", step, root, last), nil
	case found == 0:
		return fmt.Sprintf("--at %s: nothing was decided by then; the first decision of session %s is of %s", at, root, first.UTC().Format(time.RFC3339)), nil
	}
	h.At = found
	return "", nil
}
