package role

import (
	"strings"
	"testing"

	"evener/internal/policy"
)

// TestSpec: what a file says of tools is what a delegate of the role has.
//
// clause: RC-056 RC-116
func TestSpec(t *testing.T) {
	own := strings.Fields("shell read_file delegate delegate_send job_status job_list job_stop ask_user read_transcript communicate")
	for _, c := range []struct{ line, want string }{
		{"", "shell read_file delegate_send job_status job_list job_stop read_transcript communicate"},
		{"tools: all\n", "shell read_file delegate delegate_send job_status job_list job_stop read_transcript communicate"},
		{"tools: Read\n", "read_file read_transcript communicate"},
		{"tools: Read, Task, AskUserQuestion\n", "read_file delegate delegate_send job_status job_list job_stop read_transcript communicate"},
		{"tools: []\n", "read_transcript communicate"},
		{"disallowedTools: Bash\n", "read_file delegate_send job_status job_list job_stop read_transcript communicate"},
		{"tools: all\ndisallowedTools: [Agent, communicate]\n", "shell read_file delegate_send job_status job_list job_stop read_transcript communicate"},
	} {
		r, _, bad := parse([]byte(lead + c.line + end))
		if bad != nil {
			t.Fatal(bad)
		}
		got, refusal := policy.Tools(own, r.Spec(1, nil))
		if strings.Join(got, " ") != c.want || refusal != nil {
			t.Errorf("%q: got %q, %v; want %q", c.line, got, refusal, c.want)
		}
	}
	r, _, _ := parse([]byte(lead + "tools: Read, Agent\n" + end))
	got, refusal := policy.Tools(own, r.Spec(0, []string{"shell"}))
	if strings.Join(got, " ") != "shell read_file delegate_send job_status job_list job_stop read_transcript communicate" || refusal != nil {
		t.Errorf("a leaf with a grant: got %q, %v", got, refusal)
	}
}
