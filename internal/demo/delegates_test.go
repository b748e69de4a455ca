package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestDemoDelegates plays the whole story of delegates. It leaves nothing behind.
func TestDemoDelegates(t *testing.T) {
	tmp := t.TempDir()
	bin := build(t)
	t.Setenv("TMPDIR", tmp)
	var out bytes.Buffer
	if err := demo(&out, bin, false, family); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	want := []string{"created   dlg_", "steered   dlg_", "kill -KILL", "--resume", "delegates.jsonl: ", "4 runs, each with one end; 4 reports, each told once"}
	if _, err := exec.LookPath("jq"); err == nil {
		want = append(want, "soaker 1 ends: failed runtime_lost", "soaker 2 ends: completed", "/issues: want integer, got string")
	}
	for _, w := range want {
		if !strings.Contains(out.String(), w) {
			t.Errorf("the demo does not print %q:\n%s", w, &out)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// tree is a whole one as promised, a line a journal line.
const tree = `{"events":[{"kind":"delegate.created","data":{"delegate_id":"c","descriptor":{"name":"counter"}}},{"kind":"delegate.generation_started","data":{"delegate_id":"c","generation":1}}]}
{"events":[{"kind":"delegate.created","data":{"delegate_id":"a","descriptor":{"name":"auditor"}}},{"kind":"delegate.generation_started","data":{"delegate_id":"a","generation":1}}]}
{"events":[{"kind":"delegate.created","data":{"delegate_id":"s","descriptor":{"name":"soaker"}}},{"kind":"delegate.generation_started","data":{"delegate_id":"s","generation":1}}]}
{"events":[{"kind":"delegate.finished","data":{"delegate_id":"c","delivery_id":"c/1","packet":{"status":"completed"}}}]}
{"events":[{"kind":"delegate.finished","data":{"delegate_id":"a","delivery_id":"a/1","packet":{"status":"completed","structured_result_error":"no integer"}}}]}
{"events":[{"kind":"delegate.finished","data":{"delegate_id":"s","delivery_id":"s/1","packet":{"status":"failed","reason":"runtime_lost"}}}]}
{"events":[{"kind":"delegate.generation_started","data":{"delegate_id":"s","generation":2}},{"kind":"delegate.finished","data":{"delegate_id":"s","delivery_id":"s/2","packet":{"status":"completed"}}}]}
{"events":[{"kind":"delegate.delivered","data":{"delivery_id":"c/1"}},{"kind":"delegate.delivered","data":{"delivery_id":"a/1"}},{"kind":"delegate.delivered","data":{"delivery_id":"s/1"}},{"kind":"delegate.delivered","data":{"delivery_id":"s/2"}}]}
{"events":[{"kind":"attention.delegate_armed","data":{"attention_id":"c/1"}},{"kind":"attention.delegate_armed","data":{"attention_id":"a/1"}},{"kind":"attention.delegate_armed","data":{"attention_id":"s/1"}},{"kind":"attention.delegate_armed","data":{"attention_id":"s/2"}}]}
{"events":[{"kind":"turn.requested","data":{"attention_ids":["c/1","a/1"]}},{"kind":"turn.requested","data":{"attention_ids":["s/1"]}},{"kind":"turn.requested","data":{"attention_ids":["s/2"]}}]}
{"events":[{"kind":"attention.consumed","data":{"attention_ids":["c/1","a/1","s/1","s/2"]}}]}
{"events":[{"kind":"transcript.user","data":{"text":"Message from your parent agent:\nHidden files, too."}}]}
`

// TestFamilyCheck: each broken promise is noticed.
func TestFamilyCheck(t *testing.T) {
	end := tree[strings.Index(tree, `{"kind":"delegate.finished","data":{"delegate_id":"c"`):]
	end, _, _ = strings.Cut(end, "]}\n")
	for _, c := range []struct{ name, old, new, want string }{
		{"kept", "", "", ""},
		{"one after the other", `{"kind":"delegate.generation_started","data":{"delegate_id":"s","generation":1}}`, `{"kind":"x"}`, "the first end comes after 2 beginnings"},
		{"a run without an end", end, `{"kind":"x"}`, "4 began and 3 ended"},
		{"a ghost run", `"generation":2}}`, `"generation":2}},{"kind":"delegate.generation_started","data":{"delegate_id":"c","generation":2}}`, "5 began"},
		{"two ends", `"delivery_id":"a/1","packet"`, `"delivery_id":"c/1","packet"`, "ended twice"},
		{"lost taken for completed", `"failed","reason":"runtime_lost"`, `"completed"`, `soaker/1 should be "failed runtime_lost"`},
		{"a result that fits", `,"structured_result_error":"no integer"`, ``, "the result of auditor/1"},
		{"owed still", `{"kind":"delegate.delivered","data":{"delivery_id":"s/2"}}`, `{"kind":"x"}`, "soaker/2 was handed over 0 times"},
		{"received twice", `"data":{"attention_id":"c/1"}}`, `"data":{"attention_id":"c/1"}},{"kind":"attention.delegate_armed","data":{"attention_id":"c/1"}}`, "counter/1 was received 2 times"},
		{"told again", `["s/1"]`, `["s/1","a/1"]`, "auditor/1 was told 2 times"},
		{"never settled", `"a/1","s/1","s/2"`, `"a/1","s/2"`, "soaker/1 was settled 0 times"},
		{"unheard", `Hidden files, too.`, `Nothing.`, "did not hear"},
		{"no JSON", `]}`, `]`, "is no JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := tree
			if c.old != "" {
				if text = strings.Replace(tree, c.old, c.new, 1); text == tree {
					t.Fatal("the case changes nothing")
				}
			}
			f := newFamilyTree()
			var err error
			for line := range strings.Lines(text) {
				if err == nil {
					_, err = f.add([]byte(line))
				}
			}
			if err == nil {
				err = f.check()
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
