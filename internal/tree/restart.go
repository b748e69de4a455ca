package tree

import "evener/internal/id"

// restarted lets each session settle what the lost process left open, what is
// owned before its owner, and then the tree.
func (w *work) restarted(in Restarted) {
	var order []id.Session
	for d := range w.t.Delegates.All {
		order = append(order, d.Session)
	}
	for i := len(order) - 1; i >= 0; i-- {
		if x, ok := in.Sessions[order[i]]; ok && w.t.Sessions[order[i]] != nil {
			w.tell(order[i], x)
		}
	}
	if x, ok := in.Sessions[w.t.Root]; ok {
		w.tell(w.t.Root, x)
	}
	w.tell(w.t.Root, Reconcile{})
}

// reconcile goes on with what the tree's journal says is owed: generations
// that ended or were lost, stops, and deliveries. It calls no model.
func (w *work) reconcile() {
	for d := range w.t.Delegates.All {
		if !d.Open {
			continue
		}
		if s := w.t.Sessions[d.Session]; s == nil || s.Run.Generation < d.Generation {
			w.begin(d, true) // it never began; its end follows
		} else {
			w.runOver(d.Session)
		}
	}
	for _, stop := range w.t.Delegates.Stops() {
		w.tellFence(stop)
	}
	for d := range w.t.Delegates.All {
		if len(d.Owed) > 0 && w.err == nil {
			w.hand(d)
		}
	}
}
