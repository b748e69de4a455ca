package transcript

import (
	"fmt"
	"strings"
)

// digestPart is how much of one result or one call's arguments a digest has, in bytes.
const digestPart = 3000

// Digest is a conversation as one text, for a summary to be made of. Results and
// arguments are shortened, and where there is more than most bytes, the middle of
// it all is left out: what came first says what it is about, what came last where
// it stands.
func Digest(entries []Entry, most int) string {
	var b strings.Builder
	for _, e := range entries {
		switch e.Role {
		case Summary:
			fmt.Fprintf(&b, "[summary of what came before]\n%s\n\n", e.Text)
		case User:
			fmt.Fprintf(&b, "[user]\n%s\n\n", e.Text)
		case Frames:
			fmt.Fprintf(&b, "[notices]\n%s\n\n", e.Text)
		case Tool:
			fmt.Fprintf(&b, "[result of %s]\n%s\n\n", e.Name, middle(e.Text, digestPart))
		case Assistant:
			if e.Text != "" {
				fmt.Fprintf(&b, "[assistant]\n%s\n\n", e.Text)
			}
			for _, c := range e.Assistant.Calls {
				fmt.Fprintf(&b, "[call of %s]\n%s\n\n", c.Name, middle(c.Arguments, digestPart))
			}
		}
	}
	return middle(b.String(), most)
}

// middle leaves the middle of a text out where it has more than most bytes.
func middle(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := most/4, most-most/4
	return strings.ToValidUTF8(s[:head], "") + fmt.Sprintf("\n[%d bytes left out]\n", len(s)-most) + strings.ToValidUTF8(s[len(s)-tail:], "")
}
