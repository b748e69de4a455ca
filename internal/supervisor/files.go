package supervisor

import (
	"context"
	"strings"
	"time"

	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/files"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/text"
)

// useFiles carries out a call of a file tool beside the loop, with what the
// session knows of files now.
func (t *Tree) useFiles(who id.Session, e effect.UseFiles) {
	s := t.o.Store.State.Sessions[who]
	c, ok := s.Transcript.InProgress(e.Call)
	call := t.call(who, e.Call)
	if !ok || call == nil {
		return
	}
	place := files.Place{Dir: e.Dir, Sessions: t.o.Store.Home.Sessions, Scratch: t.o.Store.Home.Scratch(t.o.Store.Root)}
	known := s.KnownFiles()
	t.outside(func() {
		r := t.bounded(func(ctx context.Context) files.Result { return files.Do(ctx, place, call, known) }, c.Name)
		t.tell(who, doneOf(e.Call, r))
	})
}

// stuckAfter is how long past its end the work of a call may go on.
const stuckAfter = 3 * time.Second

// bounded waits for work that ends with its context. Only a system call can hold
// it up longer, as on a server that is gone: nothing interrupts that one, so it
// is left behind, and the call is answered.
func (t *Tree) bounded(work func(context.Context) files.Result, tool string) files.Result {
	ctx, cancel := context.WithTimeout(t.ctx, files.Limit)
	defer cancel()
	done := make(chan files.Result, 1)
	go func() { done <- work(ctx) }()
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
	}
	late := time.NewTimer(stuckAfter)
	defer late.Stop()
	select {
	case r := <-done:
		return r
	case <-late.C:
		return files.Result{Err: fault.New(fault.FileFailed, "%s: the file system does not answer; whether the call took effect is unknown, and it was given up", tool)}
	}
}

func doneOf(call string, r files.Result) session.FilesDone {
	done := session.FilesDone{Call: call, Text: strings.TrimSuffix(r.Text, "\n"), Seen: r.Seen}
	if r.Err != nil {
		done.IsError, done.Text = true, r.Err.Error()
	}
	if r.Data != nil {
		done.Data = text.Encode(r.Data)
	}
	return done
}
