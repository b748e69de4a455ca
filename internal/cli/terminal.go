package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"evener/internal/host"
	"evener/internal/session"
	"evener/internal/text"
	"evener/internal/transcript"
)

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), ioctlGetTermios)
	return err == nil
}

func isTerminalWriter(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}

// oneLine shows a description, or else a command, in a few words.
func oneLine(description, command string) string {
	if description == "" {
		description = command
	}
	return text.Preview(description, 60)
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// progress shows one line for what a person at a terminal wants to see happen.
func progress(w io.Writer, e host.Event) {
	if e.Event == "SESSION_START" {
		fmt.Fprintf(w, "· session %s\n", e.Session)
	}
	switch d := e.Data.(type) {
	case transcript.AssistantSaid:
		for _, c := range d.Calls {
			if c.Name != "communicate" {
				fmt.Fprintf(w, "· %s %s\n", c.Name, text.Preview(c.Arguments, 68-len(c.Name)))
			}
		}
	case host.CommunicateData:
		if !d.EndTurn {
			fmt.Fprintf(w, "· %s\n", text.Printable(d.Message))
		}
	case session.JobsAwaited:
		fmt.Fprintf(w, "· waiting for %d running %s\n", len(d.Jobs), plural(len(d.Jobs), "job"))
	case host.JobData:
		fmt.Fprintf(w, "· job %s %s %s\n", d.Job, d.Status, oneLine(d.Description, d.Command))
	}
}
