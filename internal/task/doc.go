// Package task is one session's task list: the steps that it was given or has
// set itself, and how far each one is.
//
//	list      input     event
//	empty     Seed      task.seeded   the steps that came with the session's assignment
//	any       Add       task.added    new steps behind the others, pending; of a full list the oldest closed ones leave
//	a task    Update    task.changed  its state, its note; nothing where neither is new
//	no task   Update    refused: target_not_found
//
// A task is pending, in_progress, done or dropped; any state may follow any
// other, for plans change. Done and dropped are closed. Its number is counted
// up from 1 and stays its own: a task that left the list leaves a gap.
package task
