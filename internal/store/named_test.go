package store

import (
	"strings"
	"testing"

	"evener/internal/id"
)

// What a journal calls an id becomes a path. One that is none is damage, wherever it is read.
func TestForgedIDsAreDamage(t *testing.T) {
	const s, d = "01JDYH3M00041061050R3GG28A", "dlg_01JDYH3M00041061050R3GG28A"
	for _, c := range []struct{ kind, data, field string }{
		{"session.created", `{"session_id":"../../X","root_session_id":"` + s + `","dir":"/"}`, "session_id"},
		{"session.created", `{"session_id":"` + s + `","root_session_id":"../X","dir":"/"}`, "root_session_id"},
		{"session.created", `{"session_id":"` + s + `","root_session_id":"` + s + `","dir":"/","parent_session_id":".."}`, "parent_session_id"},
		{"session.created", `{"session_id":"` + s + `","root_session_id":"` + s + `","dir":"/","delegate_id":"dlg_.."}`, "delegate_id"},
		{"session.forked", `{"parent_session_id":"../X","divergence_turn":1,"how":"resume_with","parent_step":1,"requests":0,"entries":1}`, "parent_session_id"},
		{"delegate.created", `{"delegate_id":"` + d + `","child_session_id":"../../X","owner_session_id":"` + s + `","origin_tool_call_id":"c","descriptor":{}}`, "child_session_id"},
		{"delegate.created", `{"delegate_id":"dlg_../X","child_session_id":"` + s + `","owner_session_id":"` + s + `","origin_tool_call_id":"c","descriptor":{}}`, "delegate_id"},
		{"delegate.created", `{"delegate_id":"` + d + `","child_session_id":"` + s + `","owner_session_id":"/","origin_tool_call_id":"c","descriptor":{}}`, "owner_session_id"},
		{"job.intended", `{"job_id":"../../../SECRET","command":"x","mode":"foreground","dir":"/","origin_turn_id":1,"origin_tool_call_id":"c"}`, "job_id"},
	} {
		_, err := decode(Home{Sessions: t.TempDir()}, id.Session(s), c.kind, []byte(c.data))
		if err == nil || !strings.HasPrefix(err.Error(), c.kind+": "+c.field+" is ") || !strings.HasSuffix(err.Error(), ", which is no id") {
			t.Errorf("%s: %v", c.data, err)
		}
	}
}
