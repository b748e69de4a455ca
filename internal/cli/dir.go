package cli

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"evener/internal/config"
	"evener/internal/enclosure"
)

// dirFlag adds --dir: all that follows is as if the program had been started there.
func (e *env) dirFlag(flags *flag.FlagSet) {
	flags.Func("dir", "work in this `folder`, as if started there", e.enter)
}

// workingDir is the working directory by its real path: one reached by a link
// lies in the same repository and has the same sessions.
func workingDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// enter makes a folder the working directory of the process, so that every
// relative path counts from there. A further one counts from the one before.
func (e *env) enter(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("there is no such folder")
	case err == nil && !info.IsDir():
		return errors.New("it is not a folder")
	case err == nil:
		err = os.Chdir(dir)
	}
	if err == nil {
		e.dir, err = workingDir()
	}
	if err != nil {
		return errors.New(enclosure.Reason(err))
	}
	e.entered = append(e.entered, dir)
	return nil
}

// where are the flags with which another command finds the same sessions.
func (e *env) where(set config.Flags) string {
	var b strings.Builder
	for _, d := range e.entered {
		b.WriteString(" --dir " + config.Quoted(d))
	}
	if d, ok := set["state_dir"]; ok {
		b.WriteString(" --state-dir " + config.Quoted(d))
	}
	return b.String()
}
