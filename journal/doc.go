// Package journal keeps an append-only file of decisions that a crash cannot
// fool and that jq can read. docs/journal.md states the format for readers in
// other languages; these are the rules that the code keeps.
//
//  1. A line is one whole decision. It is there with its newline and its
//     checksum, or it did not happen.
//  2. Lines are numbered from 1 without gaps (seq). All lines of one write carry
//     the number of the first of them (b), and a write begins only after the
//     sync of the write before it has returned. So a line whose b is above a
//     missing seq proves that the missing line had been synced: that is damage.
//     Without such a line, what follows the last whole line is a torn tail.
//  3. An append is acknowledged only after the sync of its write.
//  4. A failed sync ends the handle: the kernel may have dropped the pages and a
//     second sync would lie. A failed write ends it too, unless the disk was full
//     and the write could be undone and the undoing synced.
//  5. What was found on opening is made durable before anything is built on it.
//  6. The package never guesses and never skips. A torn tail is put aside before
//     it is cut; damage is reported and the file left as it is.
//
// One goroutine per open Journal writes; Close joins it. Readers take no lock.
package journal
