package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"evener/internal/effect"
	"evener/internal/evidence"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/joblog"
	"evener/internal/proc"
	"evener/internal/session"
	"evener/internal/tree"
)

// perform acts on decisions that are durable. Nothing here waits.
func (t *Tree) perform(effects []tree.Effect) {
	for _, e := range effects {
		s := e.Session
		switch e := e.Effect.(type) {
		case effect.StartProcess:
			t.outside(func() { t.start(s, e) })
		case effect.ReleaseProcess:
			if err := t.procs.Release(string(e.Job)); err != nil {
				t.o.Warn(fmt.Sprintf("job %s could not be released: %v", e.Job, err))
			}
		case effect.StopProcess:
			// A job whose end is already known needs no stop: its exit is on its way.
			if err := t.procs.Stop(string(e.Job), e.Grace); err != nil && !errors.Is(err, proc.ErrNoJob) {
				t.o.Warn(fmt.Sprintf("job %s could not be stopped: %v", e.Job, err))
			}
		case effect.KeepOutput:
			t.procs.Keep(string(e.Job))
		case effect.DropOutput:
			if err := joblog.Remove(t.o.Store.Home.Log(e.Job)); err != nil {
				t.o.Warn(err.Error())
			}
		case effect.DropScratch:
			t.tidied(t.dropScratch)
		case effect.Detach:
			t.outside(func() { t.detach(s, e) })
		case effect.CallModel:
			t.callModel(s, e.Request)
		case effect.NameSession:
			t.name(s)
		case effect.Summarise:
			t.summarise(s, e)
		case effect.CancelModel:
			if r := t.requests[s]; r.n == e.Request && r.cancel != nil {
				r.cancel()
			}
		case effect.ReadOutput:
			t.read(s, e)
		case effect.FindSessions:
			t.find(s, e)
		case effect.PrepareDelegate:
			t.prepare(s, e)
		case effect.CancelPrepare:
			t.prepared(s, e.Call)
		case effect.LookWorktree:
			t.lookWorktree(s, e)
		case effect.DropWorktree:
			t.tidied(func() { t.dropWorktree(e.Worktree) })
		case effect.WatchOutput:
			t.watchOutput(s, e)
		case effect.UnwatchOutput:
			t.unwatchOutput(e.Watch)
		case effect.UseFiles:
			t.useFiles(s, e)
		case effect.RestoreSession:
			t.broken = errors.Join(t.broken, t.o.Store.Restore(s))
		case effect.SetTimer:
			t.setTimer(s, e)
		case effect.EndRun:
			t.ended = true
		}
	}
}

// outside runs slow work beside the loop.
func (t *Tree) outside(work func()) {
	t.wg.Add(1)
	go func() {
		defer t.wg.Done()
		work()
	}()
}

// tidied is outside for work that leaves something behind unless it is carried
// to its end: the host of processes stays until then.
func (t *Tree) tidied(work func()) {
	t.tidying.Add(1)
	t.outside(func() {
		defer t.tidying.Done()
		work()
	})
}

// command is how a job's shell is to be made.
func (t *Tree) command(s id.Session, j id.Job, line, dir string) proc.Command {
	scratch := t.o.Store.Home.Scratch(t.o.Store.Root)
	return proc.Command{
		Job: string(j), Line: line, Dir: dir, LogPath: t.o.Store.Home.Log(j), LogCap: t.o.OutputCap, Scratch: scratch,
		Env: []string{"EVENER_SESSION_ID=" + string(s), "EVENER_SCRATCH_DIR=" + scratch, "TMPDIR=" + scratch},
	}
}

func (t *Tree) start(s id.Session, e effect.StartProcess) {
	if err := os.MkdirAll(t.o.Store.Home.Scratch(t.o.Store.Root), 0o700); err != nil {
		t.tell(s, session.LaunchFailed{Job: e.Job, Text: fmt.Sprintf("make the scratch folder: %v", err)})
		return
	}
	x, err := t.procs.Start(t.command(s, e.Job, e.Command, e.Dir))
	if err != nil {
		t.tell(s, session.LaunchFailed{Job: e.Job, Text: err.Error()})
		return
	}
	t.tell(s, session.Launched{Job: e.Job, Launch: job.Launch{PID: x.PID, StartTicks: x.StartTicks, BootID: x.BootID}})
}

// detach starts a command that outlives the session: it gets no job id and no
// scratch, which goes with the session, but a temporary folder that stays.
func (t *Tree) detach(s id.Session, e effect.Detach) {
	c := proc.Command{Line: e.Command, Dir: e.Dir, Env: []string{"EVENER_SESSION_ID=" + string(s)}, Scratch: os.TempDir()}
	if dir, ok := tempContainer(t.o.Store.Root); ok {
		c.Env = append(c.Env, "TMPDIR="+dir)
	}
	pid, err := t.procs.Detach(c)
	done := session.Detached{Call: e.Call, PID: pid}
	if err != nil {
		done.Error = err.Error()
	}
	t.tell(s, done)
}

// tempContainer provides the world-usable temporary folder of a session. A
// folder of that name that somebody else made is not used.
func tempContainer(s id.Session) (string, bool) {
	dir := filepath.Join(os.TempDir(), "evener-"+string(s))
	if err := os.Mkdir(dir, 0o700); err == nil {
		return dir, os.Chmod(dir, 0o777|os.ModeSticky) == nil
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return "", false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return dir, ok && int(owner.Uid) == os.Getuid()
}

// fromProc takes the reports of processes.
func (t *Tree) fromProc(e proc.Event) {
	switch e := e.(type) {
	case proc.Exited:
		x := job.Exit{Code: e.Code, Signal: e.Signal, Signalled: e.Stopped, LeftBehind: e.LeftBehind, Survivors: e.Survivors,
			Total: e.Total, Start: e.Start, Lost: e.Dropped, Head: string(e.Head), Tail: string(e.Tail)}
		if e.LogErr != nil {
			t.o.Warn(fmt.Sprintf("output of %s: %v; %d bytes of it are not kept", e.Job, e.LogErr, e.Dropped))
		}
		if e.Err != nil {
			x.Err = e.Err.Error()
		}
		t.exited(session.Exited{Job: id.Job(e.Job), Exit: x})
	case proc.KeeperDied:
		t.o.Warn("the process keeper died (" + e.State + "); its commands are ended, the next command starts another")
	}
}

// call is what the call in progress of a session asks for; nil where another one
// is in progress now.
func (t *Tree) call(s id.Session, name string) session.Call {
	c, ok := t.o.Store.State.Sessions[s].Transcript.InProgress(name)
	if !ok {
		return nil
	}
	call, refusal := t.o.Decode(c.Name, c.Arguments)
	if refusal != nil {
		return nil
	}
	return call
}

// read answers a read_transcript call beside the loop, from a record taken now.
func (t *Tree) read(s id.Session, e effect.ReadOutput) {
	args, ok := t.call(s, e.Call).(session.ReadTranscriptCall)
	if !ok {
		return
	}
	look := t.readOutput(e.Job, args)
	if e.Session != "" {
		look = t.readConversation(e.Session, args)
	}
	t.answer(s, e.Call, look)
}

// answer tells what a read outside the loop came to.
func (t *Tree) answer(s id.Session, call string, look func() ([]byte, *fault.Error)) {
	t.outside(func() {
		data, err := look()
		done := session.ReadDone{Call: call, Data: data}
		if err != nil {
			done.IsError, done.Text = true, err.Error()
		}
		t.tell(s, done)
	})
}

// find answers a find_session_transcripts call beside the loop. It reads files
// alone: of the sessions of this tree too, which others read no other way.
func (t *Tree) find(s id.Session, e effect.FindSessions) {
	args, ok := t.call(s, e.Call).(session.FindCall)
	if !ok {
		return
	}
	t.answer(s, e.Call, func() ([]byte, *fault.Error) {
		want, refusal := session.ParseFind(args)
		if refusal != nil {
			return nil, refusal
		}
		want.Self = s
		return t.o.Reader.Find(t.ctx, want)
	})
}

// readOutput takes what is known of a job here, and gives the rest of the read.
func (t *Tree) readOutput(j id.Job, args session.ReadTranscriptCall) func() ([]byte, *fault.Error) {
	var rec *evidence.Record
	if owner := t.o.Store.State.Sessions[j.Owner()]; owner == nil {
	} else if x := owner.Job(j); x != nil {
		r := evidence.RecordOf(x, t.live(j))
		rec = &r
	}
	return func() ([]byte, *fault.Error) {
		if rec == nil {
			r, err := t.o.Reader.Lookup(j)
			if err != nil {
				return nil, err
			}
			rec = &r
		}
		return t.o.Reader.Read(*rec, args)
	}
}

// readConversation does so for a session.
func (t *Tree) readConversation(of id.Session, args session.ReadTranscriptCall) func() ([]byte, *fault.Error) {
	var own *evidence.Conversation
	if x := t.o.Store.State.Sessions[of]; x != nil && x.ID != "" && !x.Transcript.Released() {
		c := evidence.ConversationOf(x)
		own = &c
	}
	return func() ([]byte, *fault.Error) {
		if own == nil {
			return t.o.Reader.ReadSession(t.ctx, of, args)
		}
		return t.o.Reader.ReadConversation(*own, args)
	}
}

// withCancel is the context of a session's request. At most one is out: what
// another one was is forgotten here.
func (t *Tree) withCancel(s id.Session, n int64) context.Context {
	t.yieldName()
	ctx, cancel := context.WithCancel(t.ctx)
	if old := t.requests[s]; old.cancel != nil {
		old.cancel()
	}
	t.requests[s] = request{n, cancel}
	return ctx
}
