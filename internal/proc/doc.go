// Package proc starts, watches and ends processes. Nothing else in evener does:
// jobs go through the keeper, detached commands through Detach, short commands of
// evener's own through Run.
//
//	h, _ := proc.Open(options)
//	s, _ := h.Start(command)     the shell exists and is held at its gate
//	     … make s durable …
//	h.Release(command.Job)       it runs; or h.Abandon: it never will
//	h.Stop(command.Job, 0)       the ladder: TERM, grace, KILL
//	     … one Exited for each job that was not abandoned, through options.Post …
//	h.Close(ctx)                 ends everything, joins everything
//
// The keeper is this binary started again: any program that imports the package
// is one when it is started under the keeper's name (keeper.go, init).
//
// # The command
//
// It runs as bash -c (else sh -c), not as a login shell, in its own session and
// process group, in a directory that must exist, with input from /dev/null, both
// outputs in one pipe, no terminal and no other descriptor. EVENER_JOB_ID is set.
// A text above MaxArgument runs from a file in Command.Scratch, removed at the end.
//
// # The gate
//
// Between Start and Release the shell waits in a read, before any word of the
// command (gate.go). If evener dies or abandons the job, the read meets the end of
// its pipe and the shell exits. So what was not released did not run.
//
// # The keeper
//
// One small process for each Host, started with the first command. It is the
// parent of all jobs and the subreaper of what they leave. It alone reaps, so it
// alone may signal by number. When its socket to evener closes, for whatever
// reason, it ends everything below it: TERM, a second, KILL until nothing is left.
// Only then it exits and gives up Options.Lock.
//
//	dies               what ends the jobs
//	evener             the keeper
//	the keeper         a parent-death signal for its children; evener, subreaper
//	                   too, ends the rest and then reports ErrWaitFailed
//	both at once       the same signal; Sweep at the next start for the rest
//
// Beyond reach is only what left its parents and cleared its environment, when
// evener and keeper were killed at once; and what may not be signalled (a program
// that changed its user), which is named.
//
// Where there is no subreaper (darwin) the keeper ends what still descends from
// it; a process whose parents ended is found by a Stop or a Sweep that meets the
// job's id in its environment. There is no parent-death signal either: a killed
// keeper leaves its jobs to the next Sweep.
//
// # The members of a job
//
// The shell, what is in its session or group, what carries the job's id in its
// environment, all descendants of these, and what a Stop once saw to be one of
// them. A process that changed session, cleared its environment and lost its
// parents before any look is not told from those of other jobs; Close ends it.
//
// # The end
//
// The end of a command is the exit of its shell, not the closing of its pipe: after
// it, output is drained until the pipe closes or was quiet for 250 ms, one second
// at most. What still lives is counted in LeftBehind and ends with the Host. What
// it writes later is read and discarded. A stopped job's end is when all members
// are gone or named in Survivors.
//
// One goroutine, the pump, owns a job's pipe and log. It holds a buffer only while
// bytes wait. A log that fails never stops a command: bytes are dropped and
// counted, and Head and Tail of the report still have theirs.
//
// # In the process that opens a Host
//
// It becomes a subreaper and unreadable to its jobs (not dumpable), every
// inherited descriptor is closed on exec, and children that fell to it are reaped
// one by one. A child that other code starts in a session of its own would be
// taken for one of these: start it with Run.
package proc
