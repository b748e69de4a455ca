// Package joblog keeps the output of one job in one file, capped, addressed by
// lifetime offsets: offset n is the n-th byte the job ever wrote, whatever has
// been evicted since.
//
// # The file
//
//	jobs/<job_id>.log            file offset == lifetime offset
//
// It is created (0600) at the first byte. A job without output has no file.
// Retained bytes are [Start, End). Past the cap the oldest bytes are evicted by
// punching a hole at the front, so offsets stay where they are and the size of
// the file stays End. Eviction happens before the write that needs the room:
// what is kept is at most the cap, and at least the cap less a quarter.
//
// Start can be told from the file alone, after any crash: it is the first
// offset that holds data (SEEK_DATA). Holes are punched in whole blocks, so this
// is exact to the byte.
//
// Where the file system refuses to punch, the log is compacted when it reaches
// twice the cap: the newest bytes go into a file jobs/<job_id>.log@BASE, where
// BASE is the lifetime offset of its first byte, and jobs/<job_id>.log becomes a
// symbolic link to it. The link is replaced by one rename, so a reader or a
// restart finds either the old log or the new one, both with right offsets.
//
// # A full disk
//
// A write that fails drops its bytes and counts them. The offsets go on, so the
// file gets a hole there (reads give zero bytes for it, Search passes over it),
// and the next write that succeeds stands at its lifetime offset. When the
// very first bytes were lost, Start is exact to a block. Bytes dropped at the very
// end count in the size as soon as the log is closed; after a crash before that
// the file does not know of them.
//
// # Readers
//
// Readers take no lock and need no writer: they look at the file, also while the
// job writes. Bytes before Start give an *EvictedError, offsets past End a
// *PastEndError; a log without a file gives an error that is fs.ErrNotExist. A read
// that eviction overtakes is an *EvictedError too, never zero bytes.
//
// One goroutine owns a Log; End, Start and Dropped may be asked by any.
package joblog
