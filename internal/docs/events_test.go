package docs

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/host"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/task"
	"evener/internal/tool"
	"evener/internal/transcript"
	"evener/internal/tree"
)

var eventName = regexp.MustCompile(`"([A-Z]+(?:_[A-Z]+)+|WARNING|ASSISTANT|COMMUNICATE|NOTIFICATION|TASKS|INTERRUPT)"`)

// namedEvents are the event names in the source of package host.
func namedEvents(t *testing.T) (out []string) {
	t.Helper()
	for _, file := range goFiles(t, "internal/host") {
		for _, m := range eventName.FindAllStringSubmatch(read(t, file), -1) {
			if !slices.Contains(out, m[1]) {
				out = append(out, m[1])
			}
		}
	}
	return out
}

// everyEvent projects lines that hold one of each fact.
func everyEvent() map[string]reflect.Type {
	p := host.NewProjector(tool.Decode, tree.New("s"))
	lines := [][]session.Event{
		{session.Created{}, session.RunStarted{}, session.ContextSet{}, session.TurnStarted{}, transcript.UserSaid{}, session.Requested{}},
		{transcript.AssistantSaid{}, job.Intended{Job: "j", Mode: job.Background}},
		{job.Started{Job: "j"}, transcript.Answered{Name: "shell"}},
		{job.Finished{Job: "j", Kept: true}, attention.Armed{}, task.Seeded{}},
		{session.Named{}, session.CompactionStarted{}, session.CompactionFailed{}, transcript.Compacted{}},
		{session.PromptQueued{}, session.PromptDropped{}, session.InterruptRequested{}, session.InputEnded{}},
		{session.Reported{}, session.OutputRefused{}, session.TurnEnded{}, session.JobsAwaited{}, session.RunEnded{}},
	}
	all := map[string]reflect.Type{}
	for _, e := range []host.Event{host.Warning("", time.Time{}, ""), host.Refusal{}.Event("", time.Time{})} {
		all[e.Event] = reflect.TypeOf(e.Data)
	}
	for _, events := range lines {
		for _, e := range p.Of(tree.Write{Session: "s", Events: events}) {
			all[e.Event] = reflect.TypeOf(e.Data)
		}
	}
	created := []session.Event{delegate.Created{Delegate: "d"}}
	for _, e := range p.Of(tree.Write{Events: created}) {
		all[e.Event] = reflect.TypeOf(e.Data)
	}
	return all
}

// jsonFields are the fields of a type, nested ones with their path.
func jsonFields(x reflect.Type, prefix string) (out []string) {
	for i := range x.NumField() {
		f := x.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		out = append(out, prefix+name)
		inner, mark := f.Type, "."
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			if inner.Kind() == reflect.Slice {
				mark = "[]."
			}
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			out = append(out, jsonFields(inner, prefix+name+mark)...)
		}
	}
	return out
}

// documentedFields are the names in the first column of a section's tables.
func documentedFields(text, heading string) (out []string) {
	for _, row := range rows(text, heading) {
		out = append(out, names(row[0])...)
	}
	return out
}

// TestEventsDocument: docs/events.md has every event type and no other, each
// with the fields of its payload.
func TestEventsDocument(t *testing.T) {
	text := read(t, "docs/events.md")
	payloads := everyEvent()
	var headings, projected []string
	for _, m := range regexp.MustCompile(`(?m)^## ([A-Z_]+)$`).FindAllStringSubmatch(text, -1) {
		headings = append(headings, m[1])
	}
	for name := range payloads {
		projected = append(projected, name)
	}
	differ(t, "docs/events.md", headings, namedEvents(t))
	differ(t, "everyEvent in this test", projected, namedEvents(t))
	for name, payload := range payloads {
		documented := documentedFields(text, "## "+name)
		if strings.HasPrefix(name, "JOB_") { // one payload, of which each of the two has its part
			documented = append(documentedFields(text, "## JOB_STARTED"), documentedFields(text, "## JOB_FINISHED")...)
		}
		differ(t, "docs/events.md, "+name, documented, jsonFields(payload, ""))
	}
	differ(t, "docs/events.md, Envelope", documentedFields(text, "## Envelope"), jsonFields(reflect.TypeFor[host.Event](), ""))
	differ(t, "docs/events.md, The result of a turn", documentedFields(text, "## The result of a turn"), jsonFields(reflect.TypeFor[host.TurnResult](), ""))
	differ(t, "docs/events.md, The final object", documentedFields(text, "## The final object"), jsonFields(reflect.TypeFor[host.Result](), ""))
}
