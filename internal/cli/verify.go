package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"evener/internal/audit"
	"evener/internal/id"
	"evener/internal/pattern"
	"evener/internal/store"
)

var verifyCommand = command{
	name: "verify", args: "[--json] [--expect SHA256] [SESSION|FOLDER|FILE...]", summary: "checks journals, and what they promise each other and the files beside them",
	help: "Of each journal: numbers, checksums and closing hashes, and that it folds. Of a tree: that each report that a delegate owes has\n" +
		"arrived once, is on its way or was dropped; that each delegate has its conversation and each kept job its output; that decisions are numbered\n" +
		"once, that no journal is shorter than a restart found it, and that summaries say what journals say. Everything wrong is\n" +
		"told, with its place, not the first thing alone. A note tells what the next resume settles. Nothing is changed.\n\n" +
		"Without arguments every session of the state folder is checked; FOLDER is that of a session, or a state folder.\n" +
		"--expect takes a closing hash that was kept (--json shows the latest of each journal): nothing before it was rewritten since.\n" +
		"Whole lines missing at the very end leave no trace but an open debt in another journal, or a hash that was kept; of a job's\n" +
		"output only the size is on record.\n\n" +
		"Exit status: 0 clean, 1 damage, 2 wrong usage.",
}

func init() { verifyCommand.run = runVerify }

var hashForm = pattern.New(`^[0-9A-Fa-f]{64}$`)

func runVerify(e *env, args []string) int {
	fs := e.flags(verifyCommand)
	set := e.stateFlags(fs)
	asJSON := fs.Bool("json", false, "one JSON object: journals and findings")
	expect := fs.String("expect", "", "a closing hash, `SHA256`, that one of the journals must have")
	rest, status, ok := e.parse(verifyCommand, fs, args)
	if !ok {
		return status
	}
	if *expect != "" && !hashForm().MatchString(*expect) {
		return e.fail(exitUsage, "", "verify: --expect takes a SHA-256 in hex, 64 digits; got %q", *expect)
	}
	home, _, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	v := &audit.Verified{Journals: []audit.Journal{}, Findings: []audit.Finding{}}
	if len(rest) == 0 {
		if err := v.Folder(home); err != nil {
			return e.failState(err)
		}
	}
	for _, a := range rest {
		if bad := verifyArg(v, home, a); bad != "" {
			return e.fail(exitUsage, "", "%s", bad)
		}
	}
	if *expect != "" {
		v.Expect(strings.ToLower(*expect))
	}
	status = exitOK
	if v.Damaged() {
		status = exitNoReport
	}
	if *asJSON {
		if err := json.NewEncoder(e.out).Encode(v); err != nil {
			return e.fail(exitState, "", "%v", err)
		}
		return status
	}
	e.tellVerified(v)
	return status
}

// verifyArg checks what an argument means; bad says why it means nothing.
func verifyArg(v *audit.Verified, h store.Home, arg string) (bad string) {
	dir := arg
	if s, ok := id.ParseSession(arg); ok && h.Has(s) {
		dir = h.Dir(s)
	} else if d, ok := id.ParseDelegate(arg); ok && h.Has(d.Session()) {
		dir = h.Dir(d.Session())
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Sprintf("verify: no session, folder or file %q", arg)
	case info.IsDir():
		return verifyFolder(v, dir)
	case !info.Mode().IsRegular(): // a read of it could wait, or never end
		return fmt.Sprintf("verify: %s is no regular file", arg)
	}
	v.Journal(arg)
	return ""
}

// verifyFolder checks a session with its tree where it is a root, or a state folder.
func verifyFolder(v *audit.Verified, dir string) (bad string) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Sprintf("verify: %v", err)
	}
	if s, ok := id.ParseSession(filepath.Base(dir)); ok {
		v.Session(store.Home{Sessions: filepath.Dir(dir)}, s)
		return ""
	}
	h := store.Home{Sessions: dir}
	if sub := filepath.Join(dir, "sessions"); exists(sub) {
		h.Sessions = sub
	}
	if ids, err := h.IDs(); err != nil || len(ids) == 0 {
		return fmt.Sprintf("verify: there are no sessions in %s", dir)
	}
	if err := v.Folder(h); err != nil {
		return fmt.Sprintf("verify: %v", err)
	}
	return ""
}

// tellVerified says of each journal that it is clean, what to know of it, and what is wrong.
func (e *env) tellVerified(v *audit.Verified) {
	damaged, notes := map[string]bool{}, map[string]string{}
	for _, f := range v.Findings {
		damaged[f.Path] = damaged[f.Path] || !f.Note
		if f.Note {
			notes[f.Path] += ", " + f.Text
		}
	}
	said := map[string]bool{}
	for _, j := range v.Journals {
		if said[j.Path] = true; !damaged[j.Path] {
			fmt.Fprintf(e.out, "ok %s: %d lines%s\n", j.Path, j.Lines, notes[j.Path])
		}
	}
	hint := false
	for _, f := range v.Findings {
		switch {
		case f.Note && (!said[f.Path] || damaged[f.Path]):
			fmt.Fprintf(e.out, "note %s: %s\n", f.Path, f.Text)
		case !f.Note:
			hint = hint || f.Repairable
			e.fail(exitNoReport, "", "%s", f.Text)
		}
	}
	if hint {
		e.hints("evener repair makes a repaired copy and says what is lost")
	}
}
