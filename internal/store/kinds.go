package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/task"
	"evener/internal/text"
	"evener/internal/transcript"
	"evener/internal/tree"
	"evener/internal/watch"
	"evener/journal"
)

// kinds is every kind of event that a journal may hold. An unknown kind, and
// an unknown field of a known one, fail closed: a program that does not know
// what a line says must not go on from it.
var kinds = table(
	kind[session.Created], kind[session.Forked], kind[session.ForkLabelled], kind[session.Named], kind[session.ContextSet], kind[session.Archived], kind[session.Unarchived],
	kind[session.FileSeen],
	kind[session.PromptQueued], kind[session.PromptDropped],
	kind[session.RunStarted], kind[session.InputEnded], kind[session.JobsAwaited], kind[session.WaitExpired], kind[session.RunEnding], kind[session.RunEnded],
	kind[session.TurnStarted], kind[session.Requested], kind[session.Reported], kind[session.OutputRefused], kind[session.InterruptRequested], kind[session.TurnEnded],
	kind[session.CompactionStarted], kind[session.CompactionFailed], kind[transcript.Compacted], kind[transcript.Inherited], kind[transcript.UserSaid], kind[transcript.AssistantSaid], kind[transcript.Answered],
	kind[session.MessageQueued], kind[session.SendWaiting], kind[session.StopBegan], kind[session.StopEnded],
	kind[attention.Armed], kind[attention.DelegateArmed], kind[attention.Consumed], kind[attention.Discarded], kind[attention.SettledInline], kind[attention.WatchArmed],
	kind[watch.Created], kind[watch.Fired], kind[watch.Counted], kind[watch.Dropped], kind[watch.Rearmed], kind[watch.Ended], kind[watch.RecentCleared],
	kind[job.Intended], kind[job.Started], kind[job.Promoted], kind[job.StopRequested], kind[job.Finished], kind[job.OutputPruned],
	kind[task.Seeded], kind[task.Added], kind[task.Changed],
	kind[delegate.Created], kind[delegate.GenerationStarted], kind[delegate.UpdateQueued], kind[delegate.Finished], kind[delegate.Delivered],
	kind[delegate.Discarded], kind[delegate.StopRequested], kind[delegate.StopReceipt], kind[delegate.StopFinished],
)

// Kinds lists every kind of event that a journal may hold, those that a journal
// writes of itself among them, in order.
func Kinds() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for k := range kinds {
			if !yield(k) {
				return
			}
		}
		for _, k := range journal.OwnKinds() {
			if !yield(k) {
				return
			}
		}
	})
}

type decoder func(data []byte) (session.Event, error)

func kind[E session.Event]() (string, decoder) {
	var zero E
	set := sync.OnceValue(func() setter { return setterOf(reflect.TypeFor[E]()) }) // made when first needed: most commands fold nothing
	drafts := sync.Pool{New: func() any { return new(E) }}                         // decoded into and then copied once, as the event
	return zero.Kind(), func(data []byte) (session.Event, error) {
		e := drafts.Get().(*E)
		defer func() { *e = zero; drafts.Put(e) }()
		r := reader{b: data}
		err := set()(&r, reflect.ValueOf(e).Elem())
		if err == nil {
			err = r.end()
		}
		return *e, err
	}
}

func table(rows ...func() (string, decoder)) map[string]decoder {
	t := map[string]decoder{}
	for _, row := range rows {
		k, d := row()
		t[k] = d
	}
	return t
}

// maxInline is the size of an event's data above which it stands in a file of
// its own, so that lines stay readable.
const maxInline = 1 << 20

// aside is the data of an event that stands in files/<sha256>.
type aside struct {
	File  string `json:"file_sha256"`
	Bytes int64  `json:"file_bytes"`
}

// encode makes a line of a decision's write. Large data is put aside first,
// synced, so that the line never names what is not there.
func encode(h Home, root id.Session, w tree.Write) (journal.Record, error) {
	r := journal.Record{Step: w.Step, At: w.At, Cause: w.Cause}
	for _, e := range w.Events {
		data, err := text.JSON(e)
		if err != nil {
			return r, fmt.Errorf("encode %s: %w", e.Kind(), err)
		}
		if len(data) > maxInline {
			if data, err = putAside(h, cmp.Or(w.Session, root), data); err != nil {
				return r, fmt.Errorf("put aside %s: %w", e.Kind(), err)
			}
		}
		r.Events = append(r.Events, journal.Event{Kind: e.Kind(), Data: data})
	}
	return r, nil
}

func asideOf(data []byte) aside {
	sum := sha256.Sum256(data)
	return aside{File: hex.EncodeToString(sum[:]), Bytes: int64(len(data))}
}

func putAside(h Home, s id.Session, data []byte) ([]byte, error) {
	a := asideOf(data)
	dir := filepath.Join(h.Dir(s), "files")
	if err := NoLink(dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	if err := writeSynced(filepath.Join(dir, a.File), data); err != nil {
		return nil, err
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := syncDir(d); err != nil {
			return nil, err
		}
	}
	return json.Marshal(a)
}

func writeSynced(path string, data []byte) error {
	tmp := path + ".tmp"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) { // what a crash left of it
		return err
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp) // what is left of it is of no use; the first error says why
	}
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

var asidePrefix = []byte(`{"file_sha256":"`)

// decode reads one event.
func decode(h Home, s id.Session, kind string, data []byte) (session.Event, error) {
	d := kinds[kind]
	if d == nil {
		return nil, unknownKind(kind)
	}
	if bytes.HasPrefix(data, asidePrefix) {
		var err error
		if data, err = fetchAside(h, s, data); err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
	}
	e, err := d(data)
	if err == nil {
		err = wellNamed(e)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return e, nil
}

func unknownKind(kind string) error {
	return fmt.Errorf("unknown kind %q: written by a later version?", kind)
}

func fetchAside(h Home, s id.Session, data []byte) ([]byte, error) {
	var a aside
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	if sum, err := hex.DecodeString(a.File); err != nil || len(sum) != sha256.Size {
		return nil, fmt.Errorf("names no file: %q", a.File)
	}
	path := filepath.Join(h.Dir(s), "files", a.File)
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, a.Bytes+1))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != a.File {
		return nil, fmt.Errorf("%s does not hold what its name says", path)
	}
	return body, nil
}
