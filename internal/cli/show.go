package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"evener/internal/evidence"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/tool"
)

var showCommand = command{
	name: "show", args: "[flags] job:JOB_ID", summary: "the output of a job, through the reader that the model uses",
	help: "Without flags: the record and the newest output. --offset reads one raw page of 16 KiB,\n--match searches complete lines (RE2) and goes on from --offset. --json prints the whole view.",
}

func init() { showCommand.run = runShow }

func runShow(e *env, args []string) int {
	fs := e.flags(showCommand)
	set := e.stateFlags(fs)
	asJSON := fs.Bool("json", false, "the view as one JSON object")
	offset := fs.Int64("offset", -1, "first `byte` of the page, or where the search begins")
	match := fs.String("match", "", "`pattern` to search for")
	around := fs.Int64("context", -1, "`lines` around each match")
	rest, status, ok := e.parse(showCommand, fs, args)
	if !ok {
		return status
	}
	if len(rest) != 1 {
		return e.fail(exitUsage, "", "show takes one ref, such as job:JOB_ID")
	}
	home, cfg, err := e.home(set)
	if err != nil {
		return e.fail(exitUsage, "", "%v", err)
	}
	name, isJob := strings.CutPrefix(rest[0], "job:")
	j, ok := id.ParseJob(name)
	if !isJob || !ok {
		return e.fail(exitUsage, "", "%q is no ref; use job:JOB_ID, as evener jobs lists them", rest[0])
	}
	call := map[string]any{"transcript_ref": rest[0]}
	if *offset >= 0 {
		call["offset_bytes"] = *offset
	}
	if *match != "" {
		call["output_match"] = *match
	}
	if *around >= 0 {
		call["context_lines"] = *around
	}
	raw, err := json.Marshal(call)
	if err != nil {
		return e.fail(exitUsage, "", "%v", err)
	}
	decoded, refusal := tool.Decode("read_transcript", string(raw))
	if refusal != nil {
		return e.fail(exitUsage, "", "%s", refusal.Text)
	}
	read := decoded.(session.ReadTranscriptCall)
	if refusal := session.CheckRead(read); refusal != nil {
		return e.fail(exitUsage, "", "%s", refusal.Text)
	}
	r := evidence.Reader{Home: home, MaxChars: int(cfg.ReadTranscriptChars)}
	rec, refusal := r.Lookup(j)
	if refusal != nil {
		return e.fail(exitNoReport, "", "%s", refusal.Text)
	}
	view, refusal := r.Read(rec, read)
	if refusal != nil {
		return e.fail(exitNoReport, "", "%s", refusal.Text)
	}
	if *asJSON {
		fmt.Fprintf(e.out, "%s\n", view)
		return exitOK
	}
	return e.printView(view)
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
		return e.fail(exitNoReport, "", "write: %v", err)
	}
	if v.Next != nil {
		fmt.Fprintf(e.err, "evener: more behind this: --offset %d\n", *v.Next)
	}
	return exitOK
}
