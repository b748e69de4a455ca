package bundle

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"
)

func secret(t *testing.T, name, value string) Secret {
	t.Helper()
	s, err := NewSecret(name, value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func quoted(s string, times int) string {
	for range times {
		b, _ := json.Marshal(s) // a string always encodes
		s = string(b[1 : len(b)-1])
	}
	return s
}

// ascii escapes everything that is not ASCII, as other programs' JSON does.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range quoted(s, 1) {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, u := range encode16(r) {
			b.WriteString(`\u` + u)
		}
	}
	return b.String()
}

// However a value is written down, nothing of it stays, and what stands around it does.
func TestSecretSpellings(t *testing.T) {
	value := `to"ken\4</ü😀>&x`
	s := secret(t, "KEY", value)
	for name, text := range map[string]string{
		"plain": value, "json": quoted(value, 1), "json in json": quoted(value, 2), "in a notice": strings.ReplaceAll(value, "<", "&lt;"), "in a page": strings.NewReplacer("&#34;", "&quot;").Replace(html.EscapeString(value)),
		"in a notice, escaped": strings.ReplaceAll(quoted(value, 1), `\u003c`, `\u0026lt;`), "four times": quoted(value, 4), "ascii": ascii(value), "ascii in json": quoted(ascii(value), 1),
		"query": url.QueryEscape(value), "path": url.PathEscape(value), "base64": base64.StdEncoding.EncodeToString([]byte(value)),
		"component": strings.ReplaceAll(url.QueryEscape(value), "+", "%20"), "slashes kept": strings.ReplaceAll(url.QueryEscape(value), "%2F", "/"),
		"lower case": escape().ReplaceAllStringFunc(url.QueryEscape(value), strings.ToLower), "escaped twice": strings.ReplaceAll(url.QueryEscape(value), "%", "%25"),
		"over lines": value[:5] + "\n" + value[5:9] + "\r\n" + value[9:], "over lines in json": quoted(value[:5]+"\n"+value[5:], 1),
	} {
		t.Run(name, func(t *testing.T) {
			for _, same := range []bool{false, true} {
				r := newRedactor([]Secret{s}, same)
				in := "before " + text + " behind"
				out := string(r.text([]byte(in)))
				if !strings.HasPrefix(out, "before ") || !strings.HasSuffix(out, " behind") || strings.Contains(out, "ken") || !r.hits["KEY"] {
					t.Errorf("%q became %q", in, out)
				}
				if same && len(out) != len(in) {
					t.Errorf("%d bytes became %d", len(in), len(out))
				}
			}
		})
	}
}

// What is no spelling of it stays as it is.
func TestSecretLeavesAlone(t *testing.T) {
	r := newRedactor([]Secret{secret(t, "KEY", "nab-secret")}, false)
	for _, text := range []string{"nab-secre is", "a\nnab_secret", `\nab-secre.`, "secret", "", "naB-secret"} {
		if out := string(r.text([]byte(text))); out != text {
			t.Errorf("%q became %q", text, out)
		}
	}
	for value, why := range map[string]string{"short": "5 bytes", "\xffsecret": "UTF-8", "": "0 bytes"} {
		if _, err := NewSecret("KEY", value); err == nil || !strings.Contains(err.Error(), why) || value != "" && strings.Contains(err.Error(), value) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// A mark names the secret, has as many bytes, and keeps line breaks; of a text that
// was cut in the middle of one the same part of the mark is left.
func TestSecretMarks(t *testing.T) {
	for _, c := range []struct{ value, in, out string }{
		{"0123456789abcdef", "a 0123456789abcdef", "a [KEY***********]"},
		{"123456", "123456", "[KEY*]"},
		{"0123456789abcdef", "cut 012345678…", "cut [KEY*****…"},
		{"0123456789abcdef", "cut 012345678", "cut [KEY*****"},
		{"0123456789abcdef", "789abcdef is left", "********] is left"},
		{"0123456789abcdef", "x\n789abcdef\n012345678\ny", "x\n********]\n[KEY*****\ny"},
		{"0123456789abcdef", "… 0123456 …", "… 0123456 …"},
		{"0123456789abcdef", "0123\n456789abcdef", "[KEY\n***********]"},
		{"first line\nsecond line\n", "> first line\n> second line", "> [KEY*****]\n> [KEY******]"},
		{"first line\nsecond line\n", "first line\nsecond line.", "**********\n***********."},
		{"aaaaaaaa", "aaaaaaaaaaaaaaaa", "[KEY***][KEY***]"},
	} {
		r := newRedactor([]Secret{secret(t, "KEY", c.value)}, false)
		if out := string(r.text([]byte(c.in))); out != c.out {
			t.Errorf("%q became %q, want %q", c.in, out, c.out)
		}
	}
}

// Wherever a stretch of output ends for the reader, a secret over the border is found.
func TestSecretPieces(t *testing.T) {
	s := secret(t, "KEY", "0123456789abcdef")
	r := newRedactor([]Secret{s}, true)
	text := strings.Repeat("x", r.longest) + "0123456789abcdef" + strings.Repeat("y", r.longest+40)
	want := strings.ReplaceAll(text, "0123456789abcdef", "[KEY***********]")
	for size := 1; size < len(text); size++ {
		var out, in []byte
		start := true
		for rest := text; len(rest) > 0 || len(in) > 0; {
			n := min(size, len(rest))
			in, rest = append(in, rest[:n]...), rest[n:]
			done, taken := r.piece(in, start, rest == "")
			out, in, start = append(out, done...), in[taken:], false
		}
		if string(out) != want {
			t.Fatalf("in pieces of %d it became %q", size, out)
		}
	}
}

// Only strings change, and they stay written as they were.
func TestSecretJSON(t *testing.T) {
	r := newRedactor([]Secret{secret(t, "KEY", "a<b\"c</s>12")}, false)
	for _, c := range []struct{ in, out string }{
		{`{"k":"x a<b\"c</s>12","n":[1.50,"\u00e9"]}`, `{"k":"x [KEY******]","n":[1.50,"\u00e9"]}`},
		{`{"args":"{\"k\":\"a<b\\\"c</s>12<\"}"}`, `{"args":"{\"k\":\"[KEY******]<\"}"}`},
		{`["a\u003cb\"c\u003c/s\u003e12\u003c"]`, `["[KEY******]\u003c"]`},
		{`{"n":1}`, `{"n":1}`},
	} {
		out, err := r.json([]byte(c.in))
		if err != nil || string(out) != c.out {
			t.Errorf("%s became %s, %v, want %s", c.in, out, err, c.out)
		}
	}
}

func encode16(r rune) (units []string) {
	for _, u := range utf16.Encode([]rune{r}) {
		units = append(units, fmt.Sprintf("%04X", u))
	}
	return units
}

// What stands beside a value in base64 hides it no more than what stands around it in a
// text: a user's name before it, as in basic authentication, or anything behind.
func TestSecretInBase64(t *testing.T) {
	for _, value := range []string{"p4ss/w+rd=Zq9-secret", "sixby!", "längerer Satz mit é"} {
		s := secret(t, "KEY", value)
		for before := range 5 {
			for behind := range 4 {
				whole := strings.Repeat("u", before) + value + strings.Repeat("v", behind)
				for _, c := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
					text := c.EncodeToString([]byte(whole))
					r := newRedactor([]Secret{s}, true)
					out := string(r.text([]byte("Basic " + text + " ")))
					if len(out) != len(text)+7 || !r.hits["KEY"] {
						t.Fatalf("%s: %s", text, out)
					}
					plain := []byte(out[6 : 6+len(text)])
					for i, b := range plain {
						if b == '*' || b == '[' || b == ']' {
							plain[i] = 'A'
						}
					}
					if got, err := c.DecodeString(string(plain)); err == nil && strings.Contains(string(got), value[:3]) || strings.Contains(string(got), value[len(value)-3:]) {
						t.Errorf("%s: %s tells %q", text, out, got)
					}
				}
			}
		}
	}
}
