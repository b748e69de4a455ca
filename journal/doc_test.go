package journal

import (
	"hash/crc32"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The format page tells others how to read the files, so its example has to be
// right to the byte, and its numbers and kinds have to be those of the package.
func TestFormatPage(t *testing.T) {
	b, err := os.ReadFile("../docs/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	lines := regexp.MustCompile(`(?m)^\{"seq":.*$`).FindAllString(page, -1)
	if len(lines) != 1 {
		t.Fatalf("%d example lines, want 1", len(lines))
	}
	line := []byte(lines[0])
	var e Entry
	if !sealed(line) || !e.parse(line) || e.Seq != 42 || e.Batch != 40 || e.Step != 917 {
		t.Errorf("the example does not verify: %+v", e)
	}
	kinds := kindList(e)
	if strings.Join(kinds, " ") != "job.finished notice.armed" {
		t.Errorf("the example holds %v", kinds)
	}
	// By the recipe of the page, with nothing of the package.
	covered := line[:len(line)-18]
	sum := strconv.FormatUint(uint64(crc32.Checksum(covered, crc32.MakeTable(crc32.Castagnoli))), 16)
	for _, want := range []string{
		"is `" + sum + "`", "has " + strconv.Itoa(len(line)) + " bytes", "the first " + strconv.Itoa(len(covered)) + " and",
		"at most " + strconv.Itoa(MaxDepth) + " deep", strconv.Itoa(MaxLine>>20) + " MiB", strconv.Itoa(ballast>>10) + " KiB behind", "less than " + strconv.Itoa(ballastLow>>10) + " KiB",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, k := range []string{kindCreated, kindOpened, kindRecovered, kindClosed, kindMarked, kindClock, kindLost} {
		if !strings.Contains(page, "| `"+k+"` |") {
			t.Errorf("the table of kinds lacks %s", k)
		}
	}
}
