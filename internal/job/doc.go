// Package job is one shell job: a command that a session started, from the
// durable intent to run it to its one terminal record.
//
//	state      input             events                      then
//	(none)     Start             job.intended                held shell is made
//	intended   Launched          job.started                 gate opens
//	intended   LaunchFailed      job.finished failed/start_failed
//	intended   Launched (closing) job.finished cancelled/stopped_by_parent, never started
//	intended   Exited            job.finished failed/start_failed: the shell ended at its gate
//	intended   Lost              job.finished stopped/runtime_lost, never started
//	intended   Stop, timers      nothing: there is no process yet
//	running    WaitExpired       job.promoted                (foreground only)
//	running    Stop              job.stop_requested          ladder begins, once
//	running    RuntimeExpired    job.stop_requested          ladder begins
//	running    Exited            job.finished by its exit, or by the stop that caused it
//	running    Lost              job.finished stopped/runtime_lost
//	terminal   anything          nothing: a terminal status never changes
//
// A job that finishes within the foreground wait and whose output fits into
// the tool result is ephemeral: it has lines in the journal but no row in any
// listing. Background launches, promotions and completions whose output does
// not fit are durable records.
package job
