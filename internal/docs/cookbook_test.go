package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// answers are what each recipe must say of the demo's session, by what its
// command contains. A recipe without one fails the test.
var answers = []answer{
	{`select(.kind == "job.intended") | "\($at) \(.data.mode)`, `(?m)^20\S+Z background: echo building; .*\n(?s:.*)foreground: sleep 15$`},
	{`| "\(.status) (\(.reason)): \($command`, `(?m)^completed \(exit_zero\): echo building(?s:.*)^stopped \(runtime_lost\): echo soaking; sleep 300$`},
	{`"\(.job_id) \(.status) (\(.reason))"`, `(?m)^job_\w+ completed \(exit_zero\)$(?s:.*)^job_\w+ stopped \(runtime_lost\)$`},
	{`"attention.armed").data.frame`, `(?m)^<job-notification [^\n]*"completed"(?s:.*)^<job-notification [^\n]*"runtime_lost"`},
	{`"request \(.request): \($text[$id])"`, `(?m)^request 3: <job-notification [^\n]*completed(?s:.*)^request \d+: <job-notification [^\n]*reason="runtime_lost"`},
	{`"transcript.result"`, `shell: \{"job_id":"job_\w+","type":"shell","mode":"background"(?s:.*)interrupted: evener ended while the command ran`},
	{`"session.context_set"`, `(?m)^You are Evener's agent(?s:.*)^shell read_file .* communicate$`},
	{`(.calls[]? | `, `(?m)^request 1: I build in the background\.\n  shell \{"command":"echo building`},
	{`"turn.reported"`, `^The build \(job_\w+\) completed\. The soak test .* was lost`},
	{`"restarted"`, `job\.finished job_\w+(?s:.*)attention\.armed job_(?s:.*)transcript\.result call_(?s:.*)turn\.ended (?s:.*)run\.ended`},
	{`def seconds`, `^[\d.]+ s job_\w+\n`},
	{`--arg job`, `(?m)^\d+ 20\S+Z model\.replied -> job\.intended\n\d+ 20\S+Z process\.launched -> job\.started\n\d+ \S+ process\.exited -> job\.finished\n\d+ \S+ process\.exited -> attention\.armed$`},
	{`.usage.input`, `(?m)^1\t0\t0$`},
	{`range(1; length + 1)`, `^true\n$`},
	{`.is_subagent`, `^$`}, // the demo has neither
	{`*/meta.json`, `^\w{26} reported 3 jobs: Build it, then soak it\.\n$`},
	{`*/session.jsonl`, `(?m)^\w{26} stopped runtime_lost job_\w+$`},
	{`terminal_notification_state`, `(?m)^job_\w+ completed 15 bytes$`},
	{`evener log |`, `(?m)^1\tjournal\tjournal\.created$(?s:.*)process\.launched\tjob\.started transcript\.result turn\.requested`},
	{`evener show`, `# Shell Job job_\w+\n(?s:.*)building\nbuilt\n`},
}

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// recipes are the shell blocks of documents that use jq.
func recipes(t *testing.T, documents ...string) (out [][2]string) {
	t.Helper()
	for _, name := range documents {
		for _, m := range shellBlock.FindAllStringSubmatch(read(t, name), -1) {
			if regexp.MustCompile(`(?m)(^|[|&] )jq `).MatchString(m[1]) {
				out = append(out, [2]string{name, m[1]})
			}
		}
	}
	return out
}

// TestRecipes runs every jq command of the documents over the session of the
// demo, which has a job that ended, one that was lost, and a resume.
func TestRecipes(t *testing.T) {
	needsJq(t)
	bin, session := play(t)
	answered(t, bin, session, answers, recipes(t, "README.md", "docs/cookbook.md"))
}

func needsJq(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("SKIPPED: jq is not installed, so the recipes of the documents were NOT checked")
	}
}

// answer is what a recipe must say, by what its command contains.
type answer struct{ recipe, want string }

// answered runs recipes in the folder of a session.
func answered(t *testing.T, bin, session string, answers []answer, recipes [][2]string) {
	t.Helper()
	used := map[string]bool{}
	for _, recipe := range recipes {
		want := ""
		for _, a := range answers {
			if strings.Contains(recipe[1], a.recipe) {
				want, used[a.recipe] = a.want, true
				break
			}
		}
		if want == "" {
			t.Errorf("%s: no answer is known for this recipe:\n%s", recipe[0], recipe[1])
			continue
		}
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", recipe[1])
		cmd.Dir = session
		cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "EVENER_STATE_DIR="+filepath.Dir(filepath.Dir(session)))
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || errs.Len() > 0 {
			t.Errorf("%s: %v %s\n%s", recipe[0], err, &errs, recipe[1])
		} else if !regexp.MustCompile(want).Match(out) {
			t.Errorf("%s:\n%sanswers\n%swant %s", recipe[0], recipe[1], out, want)
		}
	}
	for _, a := range answers {
		if !used[a.recipe] {
			t.Errorf("no recipe contains %s any more", a.recipe)
		}
	}
}

var kept = regexp.MustCompile(`(?m)^kept: (.+)$`)

// play runs the demo and returns the folder of the binary and that of the session.
func play(t *testing.T) (bin, session string) {
	t.Helper()
	bin = t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	for _, args := range [][]string{
		{"build", "-buildvcs=false", "-o", filepath.Join(bin, "evener"), "evener"},
		{"build", "-buildvcs=false", "-o", filepath.Join(bin, "demo"), "evener/internal/demo"},
	} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	out, err := exec.Command(filepath.Join(bin, "demo"), "-keep", filepath.Join(bin, "evener")).CombinedOutput()
	m := kept.FindSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("the demo failed: %v\n%s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(string(m[1]), ".evener", "sessions", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("want one session, got %v %v", found, err)
	}
	return bin, found[0]
}
