// Package policy says what a delegate may call: how far it may delegate in
// turn, and which tools it has.
//
// A child can narrow what its creator may call, never widen it. One list of
// names is both what the child's model is shown and what the child executes,
// so the two cannot differ: whoever builds a child's registry takes it from
// Tools and from nowhere else.
//
//	creator's tool       untyped, or `all`   role without a list   role with a list
//	communicate          always              always                always
//	read_transcript      always              always                always
//	ask_user             never               never                 never
//	delegate             allowance > 0       never                 listed and allowance > 0
//	a tool it denies     (denies nothing)    never                 never
//	any other            yes                 yes                   listed or granted
//
// A listed tool that the creator cannot call is silently absent. A granted one
// is a refusal: the creator asked for it by name and must hear that the child
// will not have it.
package policy
