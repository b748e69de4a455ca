package tool

import (
	"strings"
	"testing"
)

// The numbers of a watch are whole JSON numbers; nothing is rounded and no text is read as one.
//
// clause: JC-317
func TestWatchNumbersAreWhole(t *testing.T) {
	for _, field := range []string{"every", "progress_interval_ms", "after_seconds", "repeat_seconds"} {
		for _, value := range []string{`"60"`, `60.5`, `"x"`, `true`} {
			args := `{"operation":"create","source":"self","` + field + `":` + value + `}`
			_, err := Decode("job_watch", args)
			if err == nil || !strings.HasPrefix(err.Error(), "invalid_request: ") || !strings.Contains(err.Error(), field) {
				t.Errorf("%s: %v", args, err)
			}
		}
		if _, err := Decode("job_watch", `{"operation":"create","source":"self","`+field+`":60}`); err != nil {
			t.Errorf("%s: %v", field, err)
		}
	}
}
