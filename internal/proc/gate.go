package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The gate holds a shell before its command. The shell reads one line from a
// descriptor whose other end evener holds; end of file means that evener gave up
// or died, and the shell exits without having run anything.
//
// bash reads the gate from the file that BASH_ENV names, which it sources before
// the command. That leaves the command's text, line numbers and arguments alone.
// The user's own BASH_ENV is sourced after the gate, and is what children inherit.
// A shell that would not read BASH_ENV (plain sh, bash in POSIX or privileged
// mode) gets the gate in front of the command's first line.

const (
	gateOpen = "\n"

	bashEnvPath = "/dev/fd/3"
	// The line read goes into BASH_ENV because that name is ours until restored.
	bashGate = "builtin read -r -u 4 BASH_ENV || exit 125\nexec 3<&- 4<&-\n"
	shGate   = "read -r EVENER_GATE <&3 || exit 125; exec 3<&-; unset EVENER_GATE; "

	// A BASH_ENV longer than a path can be is not a file that bash would find.
	maxBashEnv = 8 << 10
)

// holding tells whether a shell is held at a gate.
type holding bool

const (
	gated holding = true
	free  holding = false
)

// shellPlan is how a command is brought to its shell.
type shellPlan struct {
	path   string
	argv   []string
	env    []string
	script string // text behind BASH_ENV; empty when there is none of ours
	text   string // what the shell runs
	file   string // where the text is stored when it is too long for an argument
}

// plan builds the command line of a shell.
func plan(shell, line string, env []string, way holding) shellPlan {
	p := shellPlan{path: shell, env: env, text: line}
	switch {
	case way == free:
	case readsBashEnv(shell, env):
		user, ok := lookup(env, "BASH_ENV")
		p.script = bashGate + userBashEnv(user, ok)
		p.env = append(without(env, "BASH_ENV"), "BASH_ENV="+bashEnvPath)
	default:
		p.text = shGate + line
	}
	p.argv = []string{filepath.Base(shell), "-c", p.text}
	return p
}

// readsBashEnv tells whether a shell started with env sources BASH_ENV.
func readsBashEnv(shell string, env []string) bool {
	if filepath.Base(shell) != "bash" || os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() {
		return false
	}
	if _, posix := lookup(env, "POSIXLY_CORRECT"); posix {
		return false
	}
	opts, _ := lookup(env, "SHELLOPTS")
	words := strings.Split(opts, ":")
	return !slices.Contains(words, "posix") && !slices.Contains(words, "privileged")
}

// userBashEnv restores the user's own BASH_ENV and sources its file as bash
// would: the value is expanded as between double quotes, is not searched for in
// PATH, and a missing file is no error.
func userBashEnv(value string, set bool) string {
	if !set {
		return "unset BASH_ENV\n"
	}
	restore := "BASH_ENV='" + strings.ReplaceAll(value, "'", `'\''`) + "'\n"
	if value == "" || len(value) > maxBashEnv {
		return restore
	}
	file := value
	if rest, home := strings.CutPrefix(file, "~/"); home {
		file = "$HOME/" + rest
	} else if !strings.ContainsAny(file, "/$`") {
		file = "./" + file
	}
	file = `"` + strings.ReplaceAll(file, `"`, `\"`) + `"`
	return restore + "if [ -e " + file + " ]; then . " + file + "; fi\n"
}

// findShell prefers bash wherever it is, and takes sh where there is none.
func findShell(env []string) string {
	path, _ := lookup(env, "PATH")
	dirs := append(filepath.SplitList(path), "/bin", "/usr/bin", "/usr/local/bin")
	for _, name := range []string{"bash", "sh"} {
		for _, dir := range dirs {
			file := filepath.Join(dir, name)
			if st, err := os.Stat(file); err == nil && filepath.IsAbs(file) && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
				return file
			}
		}
	}
	return "/bin/sh"
}

// lookup finds the value that counts: the last one.
func lookup(env []string, key string) (string, bool) {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == key {
			return v, true
		}
	}
	return "", false
}

// without is a copy of env less the given keys.
func without(env []string, keys ...string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if k, _, _ := strings.Cut(kv, "="); !slices.Contains(keys, k) {
			out = append(out, kv)
		}
	}
	return out
}

// merge lays stronger variables over base, one entry a key.
func merge(base []string, stronger ...string) []string {
	keys := make([]string, len(stronger))
	for i, kv := range stronger {
		keys[i], _, _ = strings.Cut(kv, "=")
	}
	out := without(base, keys...)
	for i, kv := range stronger {
		if !slices.Contains(keys[i+1:], keys[i]) {
			out = append(out, kv)
		}
	}
	return out
}
