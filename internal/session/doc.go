// Package session is one session: its conversation, its shell jobs and its
// notices, and the rules that cross these nouns.
//
// A decision (Decide) takes one input and the facts read with it and returns
// the events of one journal line and the effects that the line justifies.
// Events are applied as they are emitted, so the state is always the fold of
// what was decided; after an append that failed the state is discarded and
// folded again from disk.
//
//	idle      Prompt            turn.started, transcript.user, turn.requested
//	turn      Prompt            prompt.queued, in a living session; its turn comes in order
//	turn      Interrupt         turn.interrupt_requested; turn.ended interrupted once nothing of it is in progress
//	turn      Replied           transcript.assistant, then each call in order until one must wait
//	turn      Launched, Exited, Detached, ReadDone, FilesDone, TimerFired   results of the waiting call
//	turn      all calls done    turn.requested, or turn.ended after communicate(end_turn=true) or bare text
//	turn      ModelFailed       turn.ended failed; a run of one prompt ends with it
//	idle      Open              run.started; what a lost process left waiting gets its turn
//	idle      prompt queued     turn.started, transcript.user
//	idle      notice armed      turn.started notification
//	idle      jobs run          run.jobs_awaited, where a run at its end waits for them; run.wait_expired ends that
//	any       EndInput          run.input_ended; a living run now ends when it is idle
//	any       Close             run.ending, stops; run.ended when nothing runs
//	any       Restarted         what was open is settled, each once
//	no run    Archive           session.archived, scratch dropped; undone by session.unarchived or the next run
//
// A living run waits for prompts, jobs and notices while it is idle. When its
// input has ended it ends as a run of one prompt does.
//
// A run of one prompt goes on after its turn until its notices are consumed;
// jobs that still run are waited for where that was asked for, then announced
// once, and stopped at its end.
package session
