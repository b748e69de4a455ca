package docs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// nouns are the packages whose facts stand in journals, in the order of docs/records.md.
var nouns = []string{"session", "transcript", "job", "attention", "watch", "task", "delegate"}

const recordsIntro = `# Records

<!-- Written by make golden from the events of internal/session, transcript, job, attention, watch, task and delegate. -->

What the lines of a ` + "`session.jsonl`" + ` hold, and those of the ` + "`delegates.jsonl`" + ` of its tree, whose kinds begin with ` + "`delegate.`" + `:
the kinds of events, each with the fields of its ` + "`data`" + `. The line around them, its checksum and the ` + "`journal.`" + ` kinds are
the file format's. Fields marked * are left out when they are empty. Times stand in the line. Data of more than 1 MiB is
` + "`{\"file_sha256\":…,\"file_bytes\":…}`" + ` instead and stands in ` + "`files/<sha256>`" + `.

Fields may be added; their meaning does not change. A program that meets a kind or a field that it does not know stops
rather than go on from half of a decision.
`

// plainTypes are Go types in the words of the document.
var plainTypes = map[string]string{
	"int": "integer", "int64": "integer", "uint64": "integer", "bool": "boolean", "string": "string", "map": "object",
	"[]string": "list of strings", "[]int": "list of integers", "[]int64": "list of integers", "[]id.Job": "list of job ids", "id.Job": "job id", "id.Session": "session id", "id.Delegate": "delegate id", "id.Watch": "watch id", "[]id.Delegate": "list of delegate ids", "json.RawMessage": "JSON",
	"Mode": "string", "Status": "string", "StopBy": "string", "RunOutcome": "string", "TurnKind": "string", "TurnOutcome": "string", "ConsumedBy": "string", "FileUse": "string", "Stage": "string", "Class": "string", "Purpose": "string", "ForkHow": "string", "CompactionCause": "string", "transcript.Usage": "object",
}

var tableRow = regexp.MustCompile(`kind\[(\w+)\.(\w+)\]`)

func recordsDocument(t *testing.T) string {
	sources := map[string]source{}
	for _, noun := range nouns {
		sources[noun] = parse(t, "internal/"+noun)
	}
	var b strings.Builder
	b.WriteString(recordsIntro)
	for _, m := range tableRow.FindAllStringSubmatch(read(t, "internal/store/kinds.go"), -1) {
		s, name := sources[m[1]], ""
		for _, k := range s.kinds {
			if k.typ == m[2] {
				name = k.name
			}
		}
		if name == "" {
			t.Fatalf("%s.%s has no kind", m[1], m[2])
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", name, about(s, m[2]))
		writeFields(t, &b, s, m[2])
	}
	b.WriteString("\n## Causes\n\nThe `cause` of a line names the input that was decided, with what had to be known of it beside the line's events.\n\n" +
		"| `cause.kind` | |\n| --- | --- |\n| `journal` | the file itself: created, opened, marked, closed |\n")
	for _, dir := range []string{"session", "tree"} {
		s := parse(t, "internal/"+dir)
		for _, line := range regexp.MustCompile(`func \((\w+)\) Kind\(\) string\s+\{ return "([\w.]+)" \}`).FindAllStringSubmatch(read(t, "internal/"+dir+"/input.go"), -1) {
			if dir+"."+line[1] != "session.Abandon" && dir+"."+line[1] != "tree.Restarted" { // they write nothing themselves
				fmt.Fprintf(&b, "| `%s` | %s |\n", line[2], about(s, line[1]))
			}
		}
	}
	return b.String()
}

// about is a type's comment without its name: how Go writes it, made a sentence.
func about(s source, typ string) string {
	doc := s.docs[typ]
	for _, verb := range []string{": ", " is ", " "} {
		doc = strings.TrimPrefix(doc, typ+verb)
	}
	return strings.ToUpper(doc[:1]) + doc[1:]
}

// writeFields writes the table of a struct, then those of the structs in it.
func writeFields(t *testing.T, b *strings.Builder, s source, name string) {
	b.WriteString("| field | type | |\n| --- | --- | --- |\n")
	var inner []field
	for _, f := range s.fields(t, name) {
		mark := ""
		if f.optional {
			mark = " *"
		}
		bare := strings.TrimLeft(f.typ, "*[]")
		typ, known := plainTypes[strings.TrimPrefix(f.typ, "*")]
		switch {
		case known && strings.HasPrefix(f.typ, "*"):
			typ += " or null"
		case known:
		case s.structs[bare] != nil && strings.HasPrefix(f.typ, "[]"):
			typ = "list of objects"
			inner = append(inner, field{name: f.name, typ: bare})
		case s.structs[bare] != nil:
			typ = "object"
			inner = append(inner, field{name: f.name, typ: bare})
		default:
			t.Fatalf("%s.%s: no words for type %s", name, f.name, f.typ)
		}
		fmt.Fprintf(b, "| `%s`%s | %s | %s |\n", f.name, mark, typ, f.doc)
	}
	for _, f := range inner {
		fmt.Fprintf(b, "\nIn `%s`:\n\n", f.name)
		writeFields(t, b, s, f.typ)
	}
}

// TestRecordsDocument: docs/records.md has every kind and field that the source has.
func TestRecordsDocument(t *testing.T) {
	want := recordsDocument(t)
	same(t, "docs/records.md", want)
	if n := strings.Count(want, "\n## "); n < 20 {
		t.Errorf("only %d kinds were found", n)
	}
}

var (
	quoted     = regexp.MustCompile("<!-- (internal/\\w+/doc\\.go) -->\n```text\n(?s:.*?)```")
	stateTable = regexp.MustCompile(`(?m)^//\t.*$`)
)

// TestLifecyclesDocument: the state tables in docs/lifecycles.md are those that
// the packages state.
func TestLifecyclesDocument(t *testing.T) {
	n := 0
	want := quoted.ReplaceAllStringFunc(read(t, "docs/lifecycles.md"), func(part string) string {
		n++
		file := quoted.FindStringSubmatch(part)[1]
		var lines []string
		for _, line := range stateTable.FindAllString(read(t, file), -1) {
			lines = append(lines, strings.ReplaceAll(strings.TrimPrefix(line, "//\t"), "\t", "  "))
		}
		return fmt.Sprintf("<!-- %s -->\n```text\n%s\n```", file, strings.Join(lines, "\n"))
	})
	if n != 6 {
		t.Errorf("docs/lifecycles.md has %d tables of packages, want 6", n)
	}
	same(t, "docs/lifecycles.md", want)
}

// TestLifecyclesNamesAll: every status, reason and outcome that the core has is explained.
func TestLifecyclesNamesAll(t *testing.T) {
	text := read(t, "docs/lifecycles.md")
	constant := regexp.MustCompile(`(?m)^\t[A-Z]\w+\s+(?:Status|Stage|TurnKind|TurnOutcome|RunOutcome|Purpose|Class)?\s*= "([a-z_]+)(?:: )?"`)
	for file, least := range map[string]int{"internal/job/state.go": 10, "internal/session/event.go": 10, "internal/task/state.go": 4, "internal/delegate/event.go": 10, "internal/attention/state.go": 7} {
		found := constant.FindAllStringSubmatch(read(t, file), -1)
		if len(found) < least {
			t.Errorf("%s: only %d constants were found", file, len(found))
		}
		for _, m := range found {
			switch m[1] {
			case "foreground", "background", "detached", "one_shot", "living", "intended", "shell": // modes, and what callers never see
				continue
			}
			if !strings.Contains(text, "`"+m[1]) {
				t.Errorf("docs/lifecycles.md does not explain %q of %s", m[1], file)
			}
		}
	}
}
