// Package match finds the occurrences of a regular expression in the output of
// a job while that output is still being written. It is values and arithmetic:
// who reads the output, and what an occurrence sets off, is decided elsewhere.
//
// # The text
//
// The pattern reads the raw bytes of the output, neither lines nor a terminal's
// screen: escape sequences and a lone \r are bytes as any other. The one
// exception is the pair \r\n, which reads as \n\n. So $ stands before it, a bare
// ^$ sees one empty line in each, and a pattern with \r\n matches nothing.
// Offsets are not changed by that.
//
// # The scan
//
// The text is looked at whenever it was said to end (Flush), and else in strides:
// whenever 4096 bytes wait, up to the last newline among them, or all when there
// is none. A scan that ends at e looks at what came since the scan before it,
// and again at the Window of 4096 bytes before that: an occurrence may have begun
// there. Bytes that may turn out to be something else once more
// is known, a last \r or the beginning of a rune, wait for the next scan, or for
// Finish.
//
// A match begins at s when the expression, leftmost-first, matches there in the
// text up to e. When that match is longer than the Window, it is looked for
// again in the Window that begins at s, as if the text ended there: longer
// matches do not exist. Patterns are in multiline mode. ^ and $ hold at
// newlines; $ holds where a scan ends too, so that ^ready$ finds a prompt that
// no newline follows, and ^ where the text began. A match without a byte counts
// only in front of a byte.
//
// # Occurrences
//
// Matches are taken from left to right and do not overlap. An occurrence is
// reported by the first scan that sees it, with the text it has then. It is
// looked at again by the scans that follow, as long as its Window may grow; what
// it then takes in belongs to it and is not reported again. Where an occurrence
// was cut by the Window, a match that begins at the cut is its continuation: .+
// on a line of megabytes is one occurrence.
//
// # What does not depend on the cuts
//
// However the output is cut into pieces,
//   - a pattern whose matches all have one length gives the same occurrences, if
//     it has no assertion ($, \z, \b, \B) that a cut can make true;
//   - a pattern without such an assertion loses nothing: every match that is
//     found in one piece shares bytes with an occurrence that was reported.
//
// # Speed and memory
//
// Where every match must contain one of a few strings, those are looked for
// first, and the expression runs only where one stands. Where matches have a
// bounded length or cannot cross a newline, less than the Window is looked at
// again. None of this changes an answer. A Matcher holds less than 9 KB of
// text, whatever the pattern and however long the lines.
package match
