// Package attention holds one receiver's notices: facts that its model must
// be told once.
//
//	state      input                          event
//	(none)     source ended                   attention.armed      frame text fixed, durable before any wake
//	pending    carried by a model request     (turn.requested names it) delivered
//	pending    owner read the status          attention.consumed by status
//	delivered  turn ended well                attention.consumed by turn
//	consumed   anything                       nothing: the identity is known
//
// An identity is derived from what caused the notice, so deciding twice arms
// it once. The frame is fixed when it is armed: a notice that is shown after a
// crash reads as it would have before.
package attention
