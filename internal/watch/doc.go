// Package watch holds the watches of one session: conditions on a source, and
// what came of them.
//
//	state     input                            event
//	(none)    job_watch(create) is granted     watch.created    replaces another of the same source
//	active    the condition is met             watch.fired      with the frame that is owed (attention.watch_armed)
//	active    an occurrence that every skips   watch.counted
//	active    an echo too deep in itself       watch.dropped    told once a chain
//	active    cleared, replaced, spent, over   watch.ended      with the reason
//	active    the process is lost              watch.ended runtime_lost, or watch.rearmed where that is wanted
//
// A frame that no request has carried yet is replaced by the next one of the
// same watch and class, which says how many conditions it stands for; so a
// watch never owes more than one frame a class, and no condition becomes
// silence.
package watch
