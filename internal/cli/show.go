package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"evener/internal/effect"
	"evener/internal/evidence"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/tool"
)

var showCommand = command{
	name: "show", args: "[flags] job:JOB_ID | local:SESSION_ID", summary: "the output of a job or the conversation of a session, as the model reads it",
	help: "The bare id of a job, a session or a delegate will do.\nOf a job, without flags: the record and the newest output. --offset reads one raw page of\n16 KiB, --match searches complete lines (RE2) and goes on from --offset. Of a session: its\nnewest turns, long texts shortened. --range shows others, --expand one in full. --json\nprints the whole view.",
}

func init() { showCommand.run = runShow }

// refOf is the ref of what a person names: a ref, or the bare id of a job, of a
// session or of a delegate.
func refOf(name string) (string, bool) {
	if strings.HasPrefix(name, "job:") || strings.HasPrefix(name, "local:") {
		return name, true
	}
	if j, ok := id.ParseJob(name); ok {
		return job.Ref(j), true
	}
	if d, ok := id.ParseDelegate(name); ok {
		return "local:" + string(d.Session()), true
	}
	s, ok := id.ParseSession(name)
	return "local:" + string(s), ok
}

func runShow(e *env, args []string) int {
	fs := e.flags(showCommand)
	set := e.stateFlags(fs)
	asJSON := fs.Bool("json", false, "the view as one JSON object")
	offset := fs.Int64("offset", -1, "first `byte` of the page, or where the search begins")
	match := fs.String("match", "", "`pattern` to search for")
	around := fs.Int64("context", -1, "`lines` around each match")
	turns := fs.String("range", "", "`turns`: last:N, start:N or A-B")
	expand := fs.Int64("expand", 0, "`turn` to show in full")
	at := atFlag(fs)
	rest, status, ok := e.parse(showCommand, fs, args)
	if !ok {
		return status
	}
	if len(rest) != 1 {
		return e.fail(exitUsage, "", "show takes one ref, such as job:JOB_ID or local:SESSION_ID")
	}
	home, cfg, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	ref, ok := refOf(rest[0])
	if !ok {
		return e.fail(exitUsage, "", "%q is no ref; use job:JOB_ID, as evener jobs lists them, or local:SESSION_ID, as evener sessions does", rest[0])
	}
	call := map[string]any{"transcript_ref": ref}
	if *offset >= 0 {
		call["offset_bytes"] = *offset
	}
	if *match != "" {
		call["output_match"] = *match
	}
	if *around >= 0 {
		call["context_lines"] = *around
	}
	if *turns != "" {
		call["range"] = *turns
	}
	if *expand != 0 {
		call["expand_turn"] = *expand
	}
	raw, err := json.Marshal(call)
	if err != nil {
		return e.fail(exitUsage, "", "%v", err)
	}
	decoded, refusal := tool.Decode("read_transcript", string(raw))
	if refusal != nil {
		return e.fail(exitUsage, "", "%s", refusal.Text)
	}
	asked := decoded.(session.ReadTranscriptCall)
	read, refusal := session.CheckRead(asked)
	if refusal != nil {
		return e.fail(exitUsage, "", "%s", refusal.Text)
	}
	if *at != "" && read.Session == "" {
		return e.fail(exitUsage, "", "show: --at is for local: refs; when a job printed what is not on record")
	}
	bad, err := lookAt(&home, read.Session, *at)
	if err != nil {
		return e.failState(err)
	}
	if bad != "" {
		return e.fail(exitUsage, "", "show: %s", bad)
	}
	view, refusal := see(evidence.Reader{Home: home, MaxChars: int(cfg.ReadTranscriptChars)}, read, asked)
	if refusal != nil {
		return e.fail(exitNoReport, "", "%s", refusal.Text)
	}
	if *asJSON {
		fmt.Fprintf(e.out, "%s\n", view)
		return exitOK
	}
	return e.printView(view)
}

// see reads what a ref names from the disk.
func see(r evidence.Reader, read effect.ReadOutput, args session.ReadTranscriptCall) ([]byte, *fault.Error) {
	if read.Session != "" {
		return r.ReadSession(context.Background(), read.Session, args)
	}
	rec, refusal := r.Lookup(read.Job)
	if refusal != nil {
		return nil, refusal
	}
	return r.Read(rec, args)
}

// printView prints what a person wants of a view: its text, or its lines.
func (e *env) printView(view []byte) int {
	var v struct {
		Content *string `json:"content"`
		Lines   []struct {
			Offset int64  `json:"offset_bytes"`
			Match  bool   `json:"match"`
			Text   string `json:"text"`
		} `json:"lines"`
		Next *int64 `json:"next_offset_bytes"`
		Meta struct {
			NextRange string `json:"next_range"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(view, &v); err != nil {
		return e.fail(exitNoReport, "", "read the view: %v", err)
	}
	var b bytes.Buffer
	if v.Content != nil {
		b.WriteString(*v.Content)
	}
	for _, l := range v.Lines {
		mark := "-"
		if l.Match {
			mark = ":"
		}
		fmt.Fprintf(&b, "%d%s%s\n", l.Offset, mark, l.Text)
	}
	if _, err := b.WriteTo(e.out); err != nil {
		return e.fail(exitNoReport, "", "%v", err)
	}
	if v.Next != nil {
		fmt.Fprintf(e.err, "evener: more behind this: --offset %d\n", *v.Next)
	}
	if v.Meta.NextRange != "" {
		fmt.Fprintf(e.err, "evener: more turns: --range %s\n", v.Meta.NextRange)
	}
	return exitOK
}
