package tool

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// agentsLimit bounds what AGENTS.md adds to a request, in bytes, heading and
// pointer included: many local models have small windows.
const agentsLimit = 8 << 10

var (
	//go:embed prompt/base.md
	baseText string
	//go:embed prompt/jobs.md
	jobsText string
	//go:embed prompt/output.md
	outputText string
	//go:embed prompt/delegation.md
	delegationText string
	//go:embed prompt/leaf.md
	leafText string
	//go:embed prompt/coordinator.md
	coordinatorText string
)

// Env is what the system prompt says of the world. All of it is given, so
// that the same values make the same prompt.
type Env struct {
	Dir      string // working directory, absolute
	Platform string // such as linux/amd64
	Date     string // day of the session's start, such as 2026-11-30
	Shell    string // the program that runs commands, such as bash
	Git      bool   // Dir is inside a git repository

	Role      string // the prompt of its agent type; empty: none
	Delegate  bool   // a parent agent gave it the task
	Allowance int64  // how deep it may delegate; above 0 it has the tool

	Agents     string // content of AGENTS.md; empty: there is none
	AgentsPath string // where it stands

	OutputSchema bool // the run's reports must carry output that fits a schema of its own
}

// SystemPrompt is the system text of a session: who the model is, its
// environment, how background jobs are used, and the project's AGENTS.md, cut
// at a line end if it is long, with a pointer to the file.
func SystemPrompt(e Env) string {
	parts := []string{strings.TrimSpace(baseText)}
	switch {
	case e.Delegate && e.Allowance > 0:
		parts = append(parts, fmt.Sprintf(strings.TrimSpace(coordinatorText), e.Allowance))
	case e.Delegate:
		parts = append(parts, strings.TrimSpace(leafText))
	}
	if role := strings.TrimSpace(e.Role); role != "" {
		parts = append(parts, "# Your role\n\n"+role)
	}
	parts = append(parts, environment(e), strings.TrimSpace(jobsText))
	if e.Allowance > 0 {
		parts = append(parts, strings.TrimSpace(delegationText))
	}
	if e.OutputSchema {
		parts = append(parts, strings.TrimSpace(outputText))
	}
	if agents := agents(e); agents != "" {
		parts = append(parts, agents)
	}
	return strings.Join(parts, "\n\n") + "\n"
}

func environment(e Env) string {
	repository := "no"
	if e.Git {
		repository = "yes"
	}
	var b strings.Builder
	b.WriteString("# Environment\n")
	for _, row := range [][2]string{
		{"working directory", e.Dir},
		{"platform", e.Platform},
		{"date", e.Date},
		{"shell", e.Shell},
		{"git repository", repository},
	} {
		fmt.Fprintf(&b, "\n- %s: %s", row[0], oneLine(row[1]))
	}
	return b.String()
}

// oneLine keeps a value from adding lines of its own: a folder's name may
// hold any byte.
func oneLine(s string) string {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Sprintf("%q", s)
	}
	return s
}

func agents(e Env) string {
	text := strings.TrimPrefix(strings.ToValidUTF8(e.Agents, "\uFFFD"), "\uFEFF")
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	if text == "" {
		return ""
	}
	heading := "# Instructions of this project (AGENTS.md)\n\n"
	if len(heading)+len(text) <= agentsLimit {
		return heading + text
	}
	room := agentsLimit - len(heading) - len(pointer(math.MaxInt32, e.AgentsPath))
	kept, next := cut(text, room)
	return heading + kept + pointer(next, e.AgentsPath)
}

func pointer(line int, path string) string {
	return fmt.Sprintf("\n\n[Cut here; read on from line %d of %s]", line, oneLine(path))
}

// cut keeps whole lines of a text, at most limit bytes, and says which line
// comes next. Of a first line that is longer it keeps whole characters.
func cut(text string, limit int) (kept string, next int) {
	limit = max(limit, 0)
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	if end := strings.LastIndexByte(text[:limit+1], '\n'); end >= 0 {
		return text[:end], strings.Count(text[:end], "\n") + 2
	}
	return text[:limit], 1
}
