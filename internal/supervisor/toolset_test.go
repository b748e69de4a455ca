package supervisor

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestToolSetsGiveWhatWasRecorded(t *testing.T) {
	s := &toolSets{}
	raw := func(n int) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`[{"name":"t%d","description":"d%d","parameters":{"n":%d}}]`, n, n, n))
	}
	for round := range 3 {
		for n := range maxToolSets + 2 {
			got, err := s.read(raw(n))
			if err != nil || len(got) != 1 || got[0].Name != fmt.Sprint("t", n) || got[0].Description != fmt.Sprint("d", n) || string(got[0].Parameters) != fmt.Sprintf(`{"n":%d}`, n) {
				t.Fatalf("round %d, set %d: %+v, %v", round, n, got, err)
			}
		}
		if len(s.sets) != maxToolSets {
			t.Fatalf("%d sets are kept", len(s.sets))
		}
	}
	first, _ := s.read(raw(3))
	again, _ := s.read(raw(3))
	if &first[0] != &again[0] {
		t.Error("the same tools were read twice")
	}
	if _, err := s.read(json.RawMessage(`{`)); err == nil || !strings.HasPrefix(err.Error(), "read the recorded tools: ") {
		t.Errorf("broken tools: %v", err)
	}
}
