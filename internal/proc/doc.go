// Package proc starts, watches and ends processes. It is the only place that
// does: jobs go through the keeper, detached commands through Detach, short
// commands of evener's own through Run.
//
//	h, _ := proc.Open(options)
//	s, _ := h.Start(command)     the shell exists and is held at its gate
//	     … make s durable …
//	h.Release(command.Job)       it runs; or h.Abandon: it never will
//	h.Stop(command.Job, 0)       the stop ladder
//	     … Exited comes to options.Post, once for each released job …
//	h.Close(ctx)                 ends everything, joins everything
package proc
