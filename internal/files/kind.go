package files

import (
	"bytes"
	"strings"
)

// headBytes is how much of a file tells text from what is none, as with git.
const headBytes = 8000

// binary says what a file is, by its first bytes, if it is no text: "" is text.
func binary(head []byte) string {
	for _, k := range kinds {
		if len(head) >= k.at+len(k.magic) && string(head[k.at:k.at+len(k.magic)]) == k.magic {
			return k.name
		}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return "binary data"
	}
	return ""
}

// Kinds that begin as text may begin are not among these: a NUL tells those.
var kinds = []struct {
	at    int
	magic string
	name  string
}{
	{0, "\x7fELF", "an ELF program or library"},
	{0, "MZ\x90\x00", "a Windows program"},
	{0, "\xcf\xfa\xed\xfe", "a Mach-O program"},
	{0, "\xca\xfe\xba\xbe", "a Java class or Mach-O program"},
	{0, "\x00asm", "a WebAssembly module"},
	{0, "\x89PNG\r\n\x1a\n", "a PNG image"},
	{0, "\xff\xd8\xff", "a JPEG image"},
	{0, "GIF87a", "a GIF image"},
	{0, "GIF89a", "a GIF image"},
	{8, "WEBPVP8", "a WebP image"},
	{0, "\x00\x00\x01\x00", "an icon"},
	{0, "%PDF-", "a PDF document"},
	{0, "PK\x03\x04", "a ZIP archive (or a document or package that is one)"},
	{0, "PK\x05\x06", "an empty ZIP archive"},
	{0, "\x1f\x8b", "gzip data"},
	{0, "BZh", "bzip2 data"},
	{0, "\xfd7zXZ\x00", "xz data"},
	{0, "\x28\xb5\x2f\xfd", "zstd data"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7z archive"},
	{257, "ustar", "a tar archive"},
	{0, "!<arch>\n", "an ar archive"},
	{0, "SQLite format 3\x00", "an SQLite database"},
	{0, "OggS\x00", "Ogg media"},
	{0, "ID3\x03", "an MP3 file"},
	{0, "ID3\x04", "an MP3 file"},
	{4, "ftyp", "an MP4 or QuickTime file"},
	{0, "PACK\x00\x00", "a git pack"},
	{0, "\xff\xfe", "UTF-16 text (little-endian)"},
	{0, "\xfe\xff", "UTF-16 text (big-endian)"},
}

// binaryHint is how to get at what is in a file of this kind.
func binaryHint(kind string) string {
	switch {
	case strings.HasPrefix(kind, "UTF-16"):
		return "; iconv -f UTF-16 -t UTF-8 shows it"
	case strings.Contains(kind, "archive"), strings.HasSuffix(kind, " data") && kind != "binary data":
		return "; list or unpack it with a shell command"
	}
	return "; file, strings or od -c in a shell command look into it"
}
