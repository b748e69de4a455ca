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
	{`"\(.job_id) \(.status) (\(.reason))"`, `(?m)^job_\w+ completed \(exit_zero\)$(?s:.*)^job_\w+ stopped \(runtime_lost\)$`},
	{`"attention.armed").data.frame`, `(?m)^<job-notification [^\n]*"completed"(?s:.*)^<job-notification [^\n]*"runtime_lost"`},
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

// TestRecipes runs every jq command of the README over the session of the
// demo, which has a job that ended, one that was lost, and a resume.
func TestRecipes(t *testing.T) {
	needsJq(t)
	bin, session := play(t)
	answered(t, bin, session, answers, recipes(t, "README.md"))
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
