package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func output(t *testing.T, w io.Writer) (o *Output, failed *atomic.Value) {
	t.Helper()
	failed = &atomic.Value{}
	o, err := NewOutput(w, func(err error) { failed.Store(err) })
	if err != nil {
		t.Fatal(err)
	}
	return o, failed
}

// Lines come out whole and in order, whatever their size, to a file or not.
func TestOutput(t *testing.T) {
	var want bytes.Buffer
	for i := range 300 {
		fmt.Fprintf(&want, "%d %s\n", i, strings.Repeat("x", 40*i))
	}
	r, w := pipe(t)
	got := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(r)
		got <- b
	}()
	var plain bytes.Buffer
	for _, to := range []io.Writer{w, &plain} {
		o, failed := output(t, to)
		for line := range bytes.Lines(want.Bytes()) {
			o.Write(line)
		}
		if err := o.Close(); err != nil || failed.Load() != nil {
			t.Error(err, failed.Load())
		}
		o.Write([]byte("behind the end"))
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
	w.Close()
	if !bytes.Equal(<-got, want.Bytes()) || !bytes.Equal(plain.Bytes(), want.Bytes()) {
		t.Error("what came out is not what went in")
	}
}

// Nobody reads: lines wait, up to a bound; beyond it the writer does, until the
// run is to end. The end does not wait for long.
func TestOutputUnread(t *testing.T) {
	_, w := pipe(t)
	o, failed := output(t, w)
	mib := bytes.Repeat([]byte("x"), 1<<20)
	for range maxPending>>20 + 1 {
		o.Write(mib)
	}
	passed := make(chan struct{})
	go func() {
		o.Write(mib)
		close(passed)
	}()
	select {
	case <-passed:
		t.Fatal("more than the bound was taken")
	case <-time.After(50 * time.Millisecond):
	}
	o.Hurry()
	<-passed
	o.Write(mib)
	if err := o.Close(); !errors.Is(err, ErrUnread) || failed.Load() != err {
		t.Errorf("%v, %v", err, failed.Load())
	}
}

// A reader that is gone is told once, and ends every wait.
func TestOutputGone(t *testing.T) {
	r, w := pipe(t)
	o, failed := output(t, w)
	r.Close()
	o.Write([]byte("x\n"))
	if err := o.Close(); err == nil || failed.Load() != err {
		t.Errorf("%v, %v", err, failed.Load())
	}
	o.Write([]byte("y\n"))
}
