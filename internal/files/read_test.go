package files

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"evener/internal/fault"
	"evener/internal/session"
)

// FuzzLines: whatever pieces a reader gives, the lines are those of the content.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), 1)
	f.Add([]byte("\r"), 0)
	f.Add([]byte(strings.Repeat("x", 50)+"\r\ny\n"), 20)
	f.Fuzz(func(t *testing.T, content []byte, reader int) {
		readers := []io.Reader{bytes.NewReader(content), iotest.OneByteReader(bytes.NewReader(content)), iotest.DataErrReader(bytes.NewReader(content)), iotest.HalfReader(bytes.NewReader(content))}
		ls := newLines(readers[uint(reader)%4])
		ls.buf = make([]byte, 16) // lines above this are long
		want := bytes.SplitAfter(content, []byte("\n"))
		if len(want[len(want)-1]) == 0 {
			want = want[:len(want)-1]
		}
		at := int64(0)
		for i, w := range want {
			l, ok := ls.next()
			text := bytes.TrimSuffix(w, []byte("\n"))
			cr := len(text) < len(w) && bytes.HasSuffix(text, []byte("\r"))
			if cr {
				text = text[:len(text)-1]
			}
			if !ok || l.n != int64(i+1) || l.at != at || l.size != int64(len(text)) || l.cr != cr || l.ended != bytes.HasSuffix(w, []byte("\n")) {
				t.Fatalf("line %d of %q is %+v, %v", i+1, content, l, ok)
			}
			if !bytes.HasPrefix(text, l.text) || l.whole() != (len(l.text) == len(text)) || !l.whole() && len(l.text) < 8 {
				t.Fatalf("line %d of %q reads %q", i+1, content, l.text)
			}
			at += int64(len(w))
		}
		if l, ok := ls.next(); ok || ls.err != io.EOF {
			t.Fatalf("behind the end of %q there is %+v, %v", content, l, ls.err)
		}
	})
}

func TestReadBounds(t *testing.T) {
	dir := tempDir(t)
	tree(t, dir, map[string]string{
		"wide":  strings.Repeat(strings.Repeat("w", 1000)+"\n", 500),
		"runes": strings.Repeat("ä", 1500) + "\n",
		"edge":  strings.Repeat("x", 2000) + "\n" + strings.Repeat("y", 2001) + "\r\n",
		"cut":   strings.Repeat("x", lineBuf+77) + "\n" + strings.Repeat("y", 5*lineBuf) + "\r\nz",
		"large": strings.Repeat(strings.Repeat("l", 99)+"\n", hashBytes/100+1000),
	})
	read := func(c session.ReadFileCall) Result {
		r := Do(t.Context(), Place{Dir: dir}, c, nil)
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		return r
	}
	shown := int64(0)
	for from := int64(1); from > 0; {
		r := read(session.ReadFileCall{Path: "wide", Offset: from})
		d := r.Data.(readData)
		if len(r.Text) > readBytes+500 || d.From != from || d.Lines != 500 {
			t.Fatalf("%d bytes, %+v", len(r.Text), d)
		}
		shown += d.To - d.From + 1
		from = d.Next
	}
	if shown != 500 {
		t.Errorf("page by page there are %d lines of 500", shown)
	}
	if r := read(session.ReadFileCall{Path: "runes"}); !strings.HasPrefix(r.Text, "1\t"+strings.Repeat("ä", 1000)+"… (1000 bytes of this line not shown)") {
		t.Errorf("%.100s", r.Text[1990:])
	}
	if r := read(session.ReadFileCall{Path: "edge"}); !strings.Contains(r.Text, "x\n2\t"+strings.Repeat("y", 2000)+"… (1 byte of this line not shown)\n") || r.Data.(readData).Cut != 1 {
		t.Errorf("%s", r.Text)
	}
	r := read(session.ReadFileCall{Path: "cut"})
	if want := fmt.Sprintf("… (%d bytes of this line not shown)", 5*lineBuf-2000); !strings.Contains(r.Text, want) || !strings.Contains(r.Text, "\n3\tz\n") {
		t.Errorf("%s", r.Text)
	}
	r = read(session.ReadFileCall{Path: "large", Offset: 300_000, Limit: 1})
	if r.Seen.SHA256 != "" || r.Seen.Lines != 0 || !strings.Contains(r.Text, "lines 300000-300000 of a file of 33,654,400 bytes; go on with offset=300001") {
		t.Errorf("%+v, %s", r.Seen, r.Text)
	}
	r = read(session.ReadFileCall{Path: "large", Offset: hashBytes/100 + 1000})
	if r.Seen.SHA256 != "" || !strings.Contains(r.Text, "of 336544, to the end") {
		t.Errorf("the end of a large file: %+v, %s", r.Seen, r.Text[len(r.Text)-100:])
	}
}

// What was read is known by what was read: a file that changes meanwhile is another.
func TestReadKnowsWhatItRead(t *testing.T) {
	dir := tempDir(t)
	tree(t, dir, map[string]string{"f": "one\n"})
	p := Place{Dir: dir}
	r := Do(t.Context(), p, session.ReadFileCall{Path: "f"}, nil)
	known := map[string]session.KnownFile{r.Seen.Path: {FileSeen: *r.Seen, Whole: true}}
	before, err := os.Stat(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	// The same size and the same time: only the content tells.
	tree(t, dir, map[string]string{"f": "two\n"})
	if err := os.Chtimes(filepath.Join(dir, "f"), before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []session.Call{session.WriteFileCall{Path: "f", Content: "x"}, session.EditFileCall{Path: "f", OldString: "two", NewString: "x"}} {
		if r := Do(t.Context(), p, c, known); r.Err == nil || r.Err.Code != fault.FileChanged {
			t.Errorf("%T: %v", c, r.Err)
		}
	}
	// Another time and the same content: nothing changed.
	tree(t, dir, map[string]string{"f": "one\n"})
	if r := Do(t.Context(), p, session.WriteFileCall{Path: "f", Content: "x"}, known); r.Err != nil {
		t.Error(r.Err)
	}
}

// A call that is over does nothing more.
func TestCancelled(t *testing.T) {
	dir := tempDir(t)
	tree(t, dir, map[string]string{"f": "old\n", "d/g": "x\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := Do(t.Context(), Place{Dir: dir}, session.ReadFileCall{Path: "f"}, nil)
	known := map[string]session.KnownFile{r.Seen.Path: {FileSeen: *r.Seen, Whole: true}}
	for _, c := range []session.Call{
		session.ReadFileCall{Path: "f"}, session.WriteFileCall{Path: "f", Content: "new"}, session.EditFileCall{Path: "f", OldString: "old", NewString: "new"},
		session.ListFilesCall{Pattern: "**"}, session.SearchFilesCall{Pattern: "x"},
	} {
		if r := Do(ctx, Place{Dir: dir}, c, known); r.Err == nil || r.Err.Code != fault.Closing {
			t.Errorf("%T: %v, %s", c, r.Err, r.Text)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(b) != "old\n" {
		t.Errorf("the file is %q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".f*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestKinds(t *testing.T) {
	for head, want := range map[string]string{
		"": "", "text\n": "", "\xff\xfea\x00": "UTF-16 text (little-endian)", "\x7fELF\x02": "an ELF program or library", "a\x00": "binary data",
		"%PDF-1.7\n": "a PDF document", "PK\x03\x04": "a ZIP archive (or a document or package that is one)", bom + "text": "", "\xff text in latin-1": "",
		strings.Repeat("a", 257) + "ustar": "a tar archive", "MZ is how this sentence begins": "", "BZh": "bzip2 data",
	} {
		if got := binary([]byte(head)); got != want {
			t.Errorf("%.20q is %q, want %q", head, got, want)
		}
	}
}
