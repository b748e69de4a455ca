package proc

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Options say how a Host works. They are fixed for its life.
type Options struct {
	// Lock is held open by the keeper too, so that an flock on it frees only
	// when everything below the keeper is gone. May be nil.
	Lock *os.File
	// Env is the base environment of commands and of the keeper, as
	// "KEY=value". The caller has taken the secrets out.
	Env []string
	// StopGrace lies between SIGTERM and SIGKILL of a stop. Zero: DefaultStopGrace.
	StopGrace time.Duration
	// Post receives every event. It is called from several goroutines and must
	// not wait for the Host. After Close has returned it is not called again.
	Post func(Event)
}

// DefaultStopGrace is what a stopped job gets for its clean-up.
const DefaultStopGrace = 2 * time.Second

// Command is one shell command.
type Command struct {
	Job     string   // identity; the child finds it in EVENER_JOB_ID
	Line    string   // shell text, run by bash -c, or sh -c where there is no bash
	Dir     string   // absolute working directory
	Env     []string // "KEY=value", in addition to Options.Env and stronger
	LogPath string   // where the output goes, see package joblog
	LogCap  int64    // bytes of output kept; 0: joblog.DefaultCap
	Scratch string   // folder for the text of a command above MaxArgument
	Keep    bool     // sync the log before Exited is posted
}

// MaxArgument is the longest command that is passed as an argument, in bytes. A
// longer one is written to a file in Scratch. (Linux takes 128 KiB in one argument.)
const MaxArgument = 100 << 10

// Started tells a held process apart from any other, also after a restart.
type Started struct {
	PID        int
	StartTicks uint64 // clock ticks from boot to the start of the process
	BootID     string
}

// Event is Exited or KeeperDied.
type Event interface{ event() }

// Exited is the one report of a job's end.
type Exited struct {
	Job        string
	Code       int       // the command's exit status; -1 when Signal or Err is set
	Signal     string    // "SIGKILL", … when a signal ended the command
	Stopped    bool      // Stop was called before the end
	LeftBehind int       // processes of the job that still live; they end with the Host
	Survivors  []int     // after a stop: processes that SIGKILL did not end, or that may not be signalled
	Total      int64     // lifetime bytes of output
	Start      int64     // first byte kept in the log
	Dropped    int64     // bytes the disk did not take
	Head       []byte    // the first 8 KiB of output
	Tail       []byte    // the newest 64 KiB of output, less what was dropped
	LogErr     error     // the first failure of the log, a failed sync included
	Err        error     // ErrWaitFailed, ErrUnkillable: how the command ended is not known
	At         time.Time // when the end was known
}

// KeeperDied says that the keeper ended by itself. The jobs it had are reported
// by their own Exited; the next Start launches another keeper.
type KeeperDied struct {
	State string // how, in the words of os.ProcessState
	At    time.Time
}

func (Exited) event()     {}
func (KeeperDied) event() {}

var (
	// ErrNUL refuses a command, folder or variable that holds a NUL byte: the
	// system would cut it there.
	ErrNUL = errors.New("holds a NUL byte")
	// ErrNoJob answers for a job that is unknown or whose end was already reported.
	ErrNoJob = errors.New("no such running job")
	// ErrClosed refuses work after Close.
	ErrClosed = errors.New("the process host is closed")
	// ErrWaitFailed is in Exited when the keeper died before it could report.
	ErrWaitFailed = errors.New("the process keeper died before the command's end was known")
	// ErrUnkillable is in Exited when the command did not end after SIGKILL.
	ErrUnkillable = errors.New("the command did not end after SIGKILL")
)

// NoDirError refuses a command whose working directory is not there. It heals as
// soon as the directory exists again.
type NoDirError struct {
	Dir string
	Err error
}

func (e *NoDirError) Error() string {
	return fmt.Sprintf("working directory %s is not usable: %v", e.Dir, e.Err)
}

func (e *NoDirError) Unwrap() error { return e.Err }
