// Package store is the state folder: where things lie, who may write, which
// kinds of events there are, and Load, the one fold over files that start-up
// and every read-only command share.
//
//	.evener/                     the nearest at or above the working directory, inside the repository
//	  .gitignore                 sessions/
//	  config.json                the project's settings
//	  sessions/<session_id>/
//	    session.jsonl            the journal
//	    meta.json                a summary for listings; derived
//	    lock                     the holder of the tree
//	    jobs/<job_id>.log        output, bounded
//	    files/<sha256>           events of more than 1 MiB that a line names
//	    scratch/                 EVENER_SCRATCH_DIR
//
// With a state home, sessions/ stands below <state home>/projects/<project>.
//
// Folders are 0700, files 0600. Session and job ids are checked before they
// become part of a path, so no name from outside leaves the folder.
package store
