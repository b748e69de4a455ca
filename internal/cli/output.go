package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"evener/internal/host"
	"evener/internal/model"
	"evener/internal/term"
	"evener/internal/text"
)

// emit writes an event where it was asked for. r.mu is held by the caller.
func (r *runner) emit(e host.Event) {
	if w, ok := e.Data.(host.WarningData); ok {
		r.show(e, w.Message)
		return
	}
	line := e.Line()
	r.event(line)
	switch {
	case r.options.verbose:
		r.err.Write(line)
	case r.live != nil:
		r.live.event(e)
	}
}

// event writes a line to standard output if events were asked for there. When
// nobody can read them any more, the run is closed in order: whoever asked for
// it is gone.
func (r *runner) event(line []byte) {
	if r.stdout != nil {
		r.stdout.Write(line)
	}
}

// outputFailed closes the run.
func (r *runner) outputFailed(err error) {
	r.mu.Lock()
	r.broken = err
	fed := r.fed
	r.mu.Unlock()
	if fed {
		r.requestClose(outputGone)
	}
}

const outputGone = "standard output failed"

// warn shows a warning: as an event where events are shown, and in any case as
// a line on standard error.
func (r *runner) warn(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.show(host.Warning(r.tree.Root, time.Now(), message), message)
}

func (r *runner) show(warning host.Event, message string) {
	line := warning.Line()
	r.event(line)
	switch {
	case r.options.verbose:
		r.err.Write(line)
	case r.live != nil:
		r.live.warn(message)
	default:
		fmt.Fprintf(r.err, "evener: warning: %s\n", strings.ReplaceAll(message, "\n", " "))
	}
}

// say prints a row on standard error, as wide as the terminal is if it is one.
func (e *env) say(row term.Row) {
	width := maxRow
	if f, ok := e.err.(*os.File); ok && isTerminal(f) {
		width = max(1, columns(f)-1)
	}
	for _, line := range row.Render(width, false) {
		fmt.Fprintln(e.err, line)
	}
}

// maxRow is a width that no row has.
const maxRow = 1 << 20

// lastLine writes the final object behind all events, and reports how that went.
func (r *runner) lastLine(res host.Result) error {
	line, err := text.JSON(res)
	if err != nil {
		return err
	}
	r.stdout.Write(append(line, '\n'))
	return r.stdout.Close()
}

// failOutput says that standard output could not be written.
func (r *runner) failOutput(what string, err error) int {
	resume := r.resumeHint()
	if s := r.signalled(); s != nil && errors.Is(err, host.ErrUnread) {
		return r.fail(signalStatus(s), resume, "%v", err)
	}
	if errors.Is(err, syscall.EPIPE) {
		return r.fail(exitNoReport, resume, "the reader of standard output is gone; session %s was closed", r.tree.Root)
	}
	return r.fail(exitNoReport, resume, "%s: %v", what, err)
}

func (r *runner) resumeHint() string {
	return "evener" + r.where(r.options.flags) + " --resume " + string(r.tree.Root) + " goes on with it"
}

// printReport prints the report with a line end. A terminal would obey control
// characters in it, so there they are shown; elsewhere it is what the model wrote.
func printReport(w io.Writer, s string) error {
	if isTerminalWriter(w) {
		s = text.Printable(s)
	}
	if !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	_, err := io.WriteString(w, s)
	return err
}

// warnsOnce passes on the first warning of a model only: each further request
// of a run would say the same with other numbers.
type warnsOnce struct {
	model.Model
	warned atomic.Bool
}

func (m *warnsOnce) Complete(ctx context.Context, r model.Request, progress func(model.Progress)) (model.Reply, error) {
	reply, err := m.Model.Complete(ctx, r, progress)
	if reply.Warning != "" && m.warned.Swap(true) {
		reply.Warning = ""
	}
	return reply, err
}
