// Package delegate is the delegates of one tree: durable child conversations,
// each with one identity for life and any number of runs, which are called
// generations and are nobody's business but the tree's.
//
// Their journal, delegates.jsonl of the root, says what is owed to whom; the
// journals of sessions say what arrived. A delegate's own conversation stands
// in the journal of its session.
//
//	state     input                          events
//	(none)    create                         delegate.created, delegate.generation_started owner
//	idle      send, by its owner             delegate.generation_started owner
//	idle      a notice is owed to it         delegate.generation_started attention
//	running   send                           nothing here: its session takes the message
//	running   communicate(end_turn=false)    delegate.update_queued
//	running   its run ended                  delegate.finished, with the packet that is owed to the owner
//	any       the owner's journal has it     delegate.delivered
//	any       stop, or the root closes       delegate.stop_requested: the fence
//	stopping  nothing of the subtree runs    delegate.finished of each member, then delegate.stop_finished
//	running   the process was lost           delegate.finished failed/runtime_lost
//
// Deliveries of one delegate are handed over in the order queued, one at a
// time; an identity that the owner's journal knows is not handed over again.
package delegate
