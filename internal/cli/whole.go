package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// whole writes a file that appears whole or not at all, for its owner's eyes. A file that is
// there is replaced, and so is a link to one: what it leads to, which somebody else may have
// chosen, stays as it is. What is no file, such as a pipe, gets what comes if parts may,
// else it is refused. A signal gives the file up and leaves nothing; the error is then errGivenUp.
func whole(path string, parts bool, write func(context.Context, io.Writer) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; -o names a file", path)
	case err == nil && info.Mode().IsRegular(), errors.Is(err, fs.ErrNotExist):
	case err != nil && !errors.Is(err, syscall.ELOOP): // of a link to itself there is nothing to keep
		return wrote(path, err)
	case err == nil && !parts:
		return fmt.Errorf("%s is no file, and cannot be replaced as a whole", path)
	case err == nil:
		return wrote(path, into(ctx, path, write))
	}
	f, err := renameio.TempFile(filepath.Dir(path), path)
	if err != nil {
		return wrote(path, err)
	}
	defer f.Cleanup() // of what was not put into place
	err = f.Chmod(0o600)
	if err == nil {
		err = write(ctx, untilGivenUp{ctx, f})
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if errors.Is(err, context.Canceled) {
		return errGivenUp
	}
	return wrote(path, err)
}

// into writes to what is there already.
func into(ctx context.Context, path string, write func(context.Context, io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(ctx, f), f.Close())
}

var errGivenUp = errors.New("interrupted; no file was written")

// untilGivenUp writes until a signal came.
type untilGivenUp struct {
	ctx context.Context
	w   io.Writer
}

func (u untilGivenUp) Write(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(b)
}

// failWhole is the end of a command that could not write its file.
func (e *env) failWhole(command string, err error) int {
	if errors.Is(err, errGivenUp) {
		return e.fail(exitInterrupted, "", "%s: %v", command, err)
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w; free space there, or name another place with -o", err)
	}
	return e.fail(exitState, "", "%s: %v", command, err)
}

// wrote says which file could not be written, without the name of one that was only on its way there.
func wrote(path string, err error) error {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return fmt.Errorf("write %s: %w", path, err)
}
