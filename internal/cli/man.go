package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"evener/internal/about"
)

// printMan writes the manual page evener(1), in the man macros, from the table that
// serves the commands. It has no date: the same program writes the same page.
func printMan(w io.Writer, all []topic) {
	p := page{w}
	p.line(`.TH EVENER 1 "" "evener %s" "User Commands"`, roff(about.Version))
	p.section("NAME")
	p.line(`evener \- runs coding\-agent sessions whose background jobs can be trusted`)
	p.section("SYNOPSIS")
	p.line(`\fBevener\fR %s`, roff(runUsage.args))
	p.line(".br")
	p.line(`\fBevener\fR COMMAND [arguments]`)
	for _, t := range all {
		if t.name == "" {
			p.section("DESCRIPTION")
			p.text(sentence(t.summary) + "\n\n" + t.help)
			p.section("FLAGS OF A RUN")
			p.flags(t)
			p.section("COMMANDS")
			continue
		}
		p.line(".SS evener %s", roff(t.name))
		p.line(`\fBevener %s\fR %s`, roff(t.name), roff(t.args))
		p.line(".PP")
		p.text(sentence(t.summary))
		if t.help != "" {
			p.line(".PP")
			p.text(t.help)
		}
		p.flags(t)
	}
	p.section("FILES")
	for _, f := range [][2]string{
		{".evener/sessions/", "The sessions of a project: journals, output of jobs, and what else belongs to them."},
		{".evener/config.json", "The settings of a project."},
		{"~/.config/evener/config.json", "The settings of the user; evener config names the file and every setting."},
	} {
		p.tagged(f[0], f[1])
	}
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// page writes lines of troff input. Errors are those of its writer, which the caller checks.
type page struct{ w io.Writer }

func (p page) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

func (p page) section(name string) { p.line(".SH %s", name) }

// text writes paragraphs as the help has them: those with an indented line stand as they are.
func (p page) text(s string) {
	for i, par := range strings.Split(s, "\n\n") {
		if i > 0 {
			p.line(".PP")
		}
		as := strings.Contains("\n"+par, "\n ")
		if as {
			p.line(".nf")
		}
		for l := range strings.SplitSeq(par, "\n") {
			p.line("%s", roff(l))
		}
		if as {
			p.line(".fi")
		}
	}
}

func (p page) flags(t topic) {
	t.set.VisitAll(func(f *flag.Flag) {
		_, usage := flag.UnquoteUsage(f)
		p.tagged(spelled(f), usage)
	})
}

func (p page) tagged(name, meaning string) {
	p.line(".TP\n\\fB%s\\fR", roff(name))
	p.text(meaning)
}

// roff is a line of text that troff shows as it stands: nothing in it is a request or an
// escape, its dashes can be copied into a shell, and it is ASCII.
func roff(s string) string {
	var b strings.Builder
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		b.WriteString(`\&`)
	}
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
