package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/supervisor"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// What may wait in a session's queue before no more lines are read: the writer
// then waits in its turn. The bytes are passed by one line at most.
const (
	maxQueued      = 100
	maxQueuedBytes = 8 << 20
)

// Input feeds a living session with the lines of a reader, one after the other:
// the next is read when the one before is durable or refused.
type Input struct {
	tree    *supervisor.Tree
	as      session.Prompt // what a prompt line becomes, but for its text and id
	refused func(Refusal)
	shown   func(line []byte)

	reader *stoppable
	wg     sync.WaitGroup

	mu      sync.Mutex // guards what waits
	room    *sync.Cond
	waits   map[int64]int // bytes of each queued prompt
	bytes   int
	stopped bool
}

// Refusal is the payload of INPUT_REFUSED.
type Refusal struct {
	Line    int        `json:"line"`
	Code    fault.Code `json:"code"`
	Message string     `json:"message"`

	input string
}

// Event is the refusal as an event. It is no decision and stands in no journal.
func (r Refusal) Event(s id.Session, at time.Time) Event {
	return Event{Event: "INPUT_REFUSED", Session: s, At: job.Stamp(at), Input: r.input, Data: r}
}

// NewInput is the input of a session whose queue is as it is in the state.
// refused is told what was not taken, shown gets the lines that answer reads.
func NewInput(from io.Reader, s *session.State, refused func(Refusal), shown func(line []byte)) (*Input, error) {
	r, err := newStoppable(from)
	if err != nil {
		return nil, err
	}
	in := &Input{reader: r, refused: refused, shown: shown, waits: map[int64]int{}}
	in.room = sync.NewCond(&in.mu)
	for _, q := range s.Queue {
		in.waits[q.N] = len(q.Text)
		in.bytes += len(q.Text)
	}
	return in, nil
}

// Start begins to read. as is what a prompt line becomes, but for its text and
// id. Stop must follow.
func (in *Input) Start(t *supervisor.Tree, as session.Prompt) {
	in.tree, in.as = t, as
	in.wg.Add(1)
	go func() {
		defer in.wg.Done()
		in.run()
	}()
}

// Stop ends the reading, in the middle of a wait too, and joins it. The tree
// must have ended, so that nothing waits for its answers. It may be called again.
func (in *Input) Stop() {
	in.mu.Lock()
	in.stopped = true
	in.room.Broadcast()
	in.mu.Unlock()
	in.reader.stop()
	in.wg.Wait()
	in.reader.close()
}

// Observe follows the queue in what became durable.
func (in *Input) Observe(w tree.Write) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range w.Events {
		switch e := e.(type) {
		case session.PromptQueued:
			in.waits[e.Prompt] = len(e.Text)
			in.bytes += len(e.Text)
		case session.PromptDropped:
			in.left(e.Prompt)
		case transcript.UserSaid:
			if e.Prompt != 0 {
				in.left(e.Prompt)
			}
		}
	}
}

func (in *Input) left(prompt int64) {
	in.bytes -= in.waits[prompt]
	delete(in.waits, prompt)
	in.room.Broadcast()
}

// wait returns when there is room in the queue; false when reading is over.
func (in *Input) wait() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for !in.stopped && (len(in.waits) >= maxQueued || in.bytes >= maxQueuedBytes) {
		in.room.Wait()
	}
	return !in.stopped
}

func (in *Input) run() {
	l := newLines(in.reader)
	for in.wait() {
		line, err := l.next()
		switch {
		case errors.Is(err, errLong):
			in.refuse(l.n, "", fault.Invalid("%v", err))
		case errors.Is(err, errStopped):
			return
		case err != nil:
			in.tree.Post(session.EndInput{Error: unread(l.n, err)})
			return
		default:
			in.take(l.n, line)
		}
	}
}

// unread says why the input ended at line n where that is not its end. What
// was read of that line is no line, and is dropped.
func unread(n int, err error) string {
	if errors.Is(err, io.EOF) {
		return ""
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Sprintf("standard input could not be read at line %d: %v", n, err)
}

// Readable refuses a standard input that no byte can come from: a directory, or
// a file that is open for writing only.
func Readable(r io.Reader) error {
	f, ok := r.(*os.File)
	if !ok {
		return nil
	}
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var read error
	err = c.Control(func(fd uintptr) { _, read = unix.Read(int(fd), nil) }) // of no bytes: it does not wait
	return errors.Join(err, read)
}

// take hands one line to the session.
func (in *Input) take(n int, line []byte) {
	r, bad := parseLine(line)
	if bad != "" {
		in.refuse(n, r.id, fault.Invalid("%s", bad))
		return
	}
	if r.activity != nil {
		in.read(n, r)
		return
	}
	var what session.Input = session.Interrupt{ID: r.id}
	if !r.interrupt {
		p := in.as
		p.Text, p.ID = r.prompt, r.id
		what = p
	}
	err := in.tree.Ask(what)
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		in.refuse(n, r.id, refusal)
	}
}

// read answers a read of the activity.
func (in *Input) read(n int, r request) {
	q, refusal := r.activity.query(in.tree.Root())
	var page []byte
	if refusal == nil {
		var err error
		page, err = in.tree.Activity(q)
		refusal, _ = errors.AsType[*fault.Error](err)
	}
	if refusal != nil {
		in.refuse(n, r.id, refusal)
		return
	}
	in.shown(activityLine(r.id, page))
}

func (in *Input) refuse(line int, id string, err *fault.Error) {
	in.refused(Refusal{Line: line, Code: err.Code, Message: err.Text, input: id})
}

// stoppable reads from a file until it is stopped: it looks first whether there
// is something to read.
type stoppable struct {
	io.Reader
	file *os.File // nil: a reader that does not wait
	pipeEnd
}

func newStoppable(r io.Reader) (*stoppable, error) {
	s := &stoppable{Reader: r}
	f, ok := r.(*os.File)
	if !ok {
		return s, nil
	}
	var err error
	s.file = f
	s.pipeEnd, err = newPipeEnd()
	return s, err
}

func (s *stoppable) Read(p []byte) (int, error) {
	if s.file == nil {
		return s.Reader.Read(p)
	}
	if err := s.wait(s.file, unix.POLLIN); err != nil {
		return 0, err
	}
	return s.file.Read(p)
}

// stop ends a read that waits, and every later one.
func (s *stoppable) stop() {
	if s.file != nil {
		s.end()
	}
}
