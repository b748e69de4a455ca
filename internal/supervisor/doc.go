// Package supervisor owns one tree: a single goroutine takes inputs, has the
// core decide, makes the decisions durable, and only then acts on them.
//
//	take every waiting input → decide each in turn → write the touched journals
//	once and sync them side by side → tell observers → perform effects → answer
//
// The loop never waits for a process, a model, a client or a timer. Slow work
// runs outside and posts its result with the identity that it belongs to; the
// decision drops what is stale. Whatever is started here is joined before Wait
// returns.
//
// A full disk that left the journals whole heals: the tree is folded again
// from disk and the same inputs are decided again once there is space. After
// any other failed write nothing more is told or done.
package supervisor
