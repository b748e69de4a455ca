package session

import (
	"strings"
	"testing"

	"evener/internal/fault"
	"evener/internal/transcript"
)

// What a session knows of a file is what its events say, and decides what may be
// done to it.
func TestKnownFiles(t *testing.T) {
	read := func(sum string, from, to, lines int64) FileSeen {
		return FileSeen{Path: "/f", By: FileRead, Size: 9, Time: 1, SHA256: sum, From: from, To: to, Lines: lines}
	}
	as := func(by FileUse, sum string) FileSeen {
		return FileSeen{Path: "/f", By: by, Size: 9, Time: 1, SHA256: sum, Lines: 9}
	}
	large := func(size, time int64) FileSeen {
		return FileSeen{Path: "/f", By: FileRead, Size: size, Time: time, From: 1, To: 2}
	}
	for _, c := range []struct {
		name   string
		events []FileSeen
		now    FileSeen
		edit   fault.Code
		write  fault.Code
		says   string
	}{
		{"unknown", nil, as("", "a"), "", fault.FileUnread, "has not read it"},
		{"read whole", []FileSeen{read("a", 1, 9, 9)}, as("", "a"), "", "", ""},
		{"empty", []FileSeen{read("a", 0, 0, 0)}, as("", "a"), "", "", ""},
		{"touched", []FileSeen{read("a", 1, 9, 9)}, FileSeen{SHA256: "a", Size: 9, Time: 77}, "", "", ""},
		{"changed", []FileSeen{read("a", 1, 9, 9)}, as("", "b"), fault.FileChanged, fault.FileChanged, "has changed"},
		{"in part", []FileSeen{read("a", 3, 4, 9)}, as("", "a"), "", fault.FileUnread, "only lines 3-4 of 9"},
		{"in parts", []FileSeen{read("a", 1, 2, 9), read("a", 5, 5, 9), read("a", 8, 9, 9)}, as("", "a"), "", fault.FileUnread, "only lines 1-2, lines 5-5, lines 8-9 of 9"},
		{"all parts", []FileSeen{read("a", 5, 9, 9), read("a", 1, 2, 9), read("a", 2, 4, 9)}, as("", "a"), "", "", ""},
		{"parts of two states", []FileSeen{read("a", 1, 4, 9), read("b", 5, 9, 9)}, as("", "b"), "", fault.FileUnread, "only lines 5-9 of 9"},
		{"whole, then a part", []FileSeen{read("a", 1, 9, 9), read("a", 3, 4, 9)}, as("", "a"), "", "", ""},
		{"written", []FileSeen{as(FileWritten, "a")}, as("", "a"), "", "", ""},
		{"read whole, edited", []FileSeen{read("a", 1, 9, 9), as(FileEdited, "b")}, as("", "b"), "", "", ""},
		{"edited back meanwhile", []FileSeen{read("a", 1, 9, 9), as(FileEdited, "b")}, as("", "a"), fault.FileChanged, fault.FileChanged, ""},
		{"edited unread", []FileSeen{as(FileEdited, "b")}, as("", "b"), "", fault.FileUnread, "only what edit_file changed"},
		{"edited, then read", []FileSeen{as(FileEdited, "b"), read("b", 1, 9, 9)}, as("", "b"), "", "", ""},
		{"large", []FileSeen{large(100, 1)}, large(100, 1), "", fault.FileUnread, "too large to be known whole (100 bytes)"},
		{"large, another time", []FileSeen{large(100, 1)}, large(100, 2), fault.FileChanged, fault.FileChanged, ""},
		{"was large", []FileSeen{large(100, 1)}, as("", "a"), fault.FileChanged, fault.FileChanged, ""},
	} {
		s := New()
		for _, e := range c.events {
			if err := s.Apply(s.LastAt, e); err != nil {
				t.Fatal(err)
			}
		}
		var k *KnownFile
		if x, ok := s.KnownFiles()["/f"]; ok {
			k = &x
		}
		check := func(what string, got *fault.Error, want fault.Code) {
			if (got == nil) != (want == "") || got != nil && (got.Code != want || !strings.Contains(got.Text, c.says)) {
				t.Errorf("%s: %s: %v, want %s", c.name, what, got, want)
			}
		}
		check("write", CheckOverwrite(k, c.now, "f"), c.write)
		c.says = ""
		check("edit", CheckEdit(k, c.now, "f"), c.edit)
	}
	if err := New().Apply(New().LastAt, FileSeen{Path: "/f", By: "smell"}); err == nil {
		t.Error("an unknown use is taken")
	}
}

func TestCheckFiles(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, c := range []struct {
		call Call
		want string
	}{
		{ReadFileCall{Path: "a", Offset: 5, Limit: 9}, ""},
		{ReadFileCall{}, "read_file: path is empty"},
		{ReadFileCall{Path: "a", Limit: -1}, "read_file: limit must not be negative (got -1)"},
		{ReadFileCall{Path: "a", Offset: -1}, "read_file: offset must not be negative"},
		{ReadFileCall{Path: long}, "path has 5000 bytes; no path may have more than 4096"},
		{WriteFileCall{Path: "a\x00"}, "write_file: path holds a NUL character at byte 1"},
		{WriteFileCall{Path: "a", Content: "\x00"}, ""},
		{EditFileCall{Path: "a", OldString: "x"}, ""},
		{EditFileCall{Path: "a", NewString: "x"}, "old_string is empty"},
		{EditFileCall{Path: "a", OldString: "x", NewString: "x"}, "the same"},
		{ListFilesCall{}, ""},
		{ListFilesCall{Pattern: long}, "list_files: pattern has 5000 bytes; at most 1000 are taken"},
		{ListFilesCall{Offset: -3}, "list_files: offset must not be negative (got -3)"},
		{ListFilesCall{Limit: -3}, "list_files: limit must not be negative"},
		{SearchFilesCall{Pattern: "x", ContextLines: 20}, ""},
		{SearchFilesCall{Pattern: "x", ContextLines: 21}, "from 0 to 20 (got 21)"},
		{SearchFilesCall{}, "pattern is empty; list_files lists files"},
		{SearchFilesCall{Pattern: "("}, "is no RE2 pattern"},
		{SearchFilesCall{Pattern: "x", Glob: long}, "glob has 5000 bytes"},
		{SearchFilesCall{Pattern: long}, "pattern has 5000 bytes"},
		{SearchFilesCall{Pattern: "x", Limit: -1}, "limit must not be negative"},
		{JobListCall{}, "is no call of a file tool"},
	} {
		got := CheckFiles(c.call)
		if (got == nil) != (c.want == "") || got != nil && (!strings.Contains(got.Text, c.want) || len(got.Text) > 300) {
			t.Errorf("%T%+.80v: %v, want %s", c.call, c.call, got, c.want)
		}
	}
}

// While the disk is full a long result is not recorded, and what became of the
// call is said in its place. What was seen of the file is recorded in any case.
func TestFilesResultWhileFull(t *testing.T) {
	long, data := strings.Repeat("x", fullResult), []byte(`{"path":"a"}`)
	seen := &FileSeen{Path: "/f", By: FileWritten, Size: 1, Time: 1, SHA256: "a", Lines: 1}
	for _, c := range []struct {
		name string
		full string
		in   FilesDone
		want string // the beginning of the result
	}{
		{"long", "", FilesDone{Text: long, Data: data}, "xxx"},
		{"long and full", "/state", FilesDone{Text: long, Data: data, Seen: seen}, "state_full: write_file: it was done, and the filesystem of /state is full, so its result of 4108 bytes could not be recorded"},
		{"long data and full", "/state", FilesDone{Text: "x", Data: []byte(`"` + long + `"`)}, "state_full: write_file: it was done, "},
		{"a long error and full", "/state", FilesDone{Text: long + "x", IsError: true}, "state_full: write_file: it failed, and the filesystem of /state is full, so its result of 4097 bytes "},
		{"the most and full", "/state", FilesDone{Text: long[:fullResult-len(data)], Data: data}, "xxx"},
	} {
		s := with(t, run(OneShot), TurnStarted{1, UserTurn}, Requested{Turn: 1, Request: 1},
			transcript.AssistantSaid{Turn: 1, Request: 1, Calls: []transcript.Call{{ID: "c", Name: "write_file"}}})
		c.in.Call = "c"
		step, err := Decide(s, nil, Facts{Now: now, Full: c.full, Room: 1 << 20}, c.in)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		kept := false
		for _, e := range step.Events {
			switch e := e.(type) {
			case transcript.Answered:
				if !strings.HasPrefix(e.Text, c.want) {
					t.Errorf("%s: %.150q", c.name, e.Text)
				}
			case FileSeen:
				kept = true
			}
		}
		if kept != (c.in.Seen != nil) {
			t.Errorf("%s: what was seen is recorded: %v", c.name, kept)
		}
	}
}
