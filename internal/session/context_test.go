package session

import (
	"encoding/json"
	"testing"
)

// TestSameContext: whatever of it changes is told to the model, so it is recorded.
func TestSameContext(t *testing.T) {
	whole := ContextSet{Model: "m", System: "s", Tools: json.RawMessage(`[]`), Params: json.RawMessage(`{"max_tokens":1}`)}
	for i, change := range []func(*ContextSet){
		func(c *ContextSet) { c.Model = "n" },
		func(c *ContextSet) { c.System = "t" },
		func(c *ContextSet) { c.Tools = json.RawMessage(`[1]`) },
		func(c *ContextSet) { c.Params = nil },
	} {
		other := whole
		change(&other)
		if sameContext(whole, other) || !sameContext(other, other) {
			t.Errorf("change %d", i)
		}
	}
}
