package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// failure is one attempt that failed, and what follows from it.
type failure struct {
	err   *Error
	again bool          // it may go better next time
	after time.Duration // what the server asked for; at least
	// loading: the server said that it is still loading its model. That takes
	// minutes and ends by itself, so only RetryTotal bounds it, not Tries.
	loading bool
}

const (
	backoffFirst = 500 * time.Millisecond
	backoffMax   = 8 * time.Second
)

// retry makes attempts until one succeeds, fails for good, or the bounds are
// reached. Every attempt is the whole request.
func (c Config) retry(ctx context.Context, progress func(Progress), attempt func(n int) (*builder, *failure)) (*builder, error) {
	var waited time.Duration
	counted := 0
	for n := 1; ; n++ {
		b, f := attempt(n)
		if f == nil {
			return b, nil
		}
		if ctx.Err() != nil {
			return nil, ended(ctx)
		}
		if !f.loading {
			counted++
		}
		wait := pause(n, f.after)
		switch {
		case !f.again:
			return nil, f.err
		case f.after > c.RetryTotal:
			f.err.Hint = fmt.Sprintf("the server asks to wait %s; try again later", f.after.Round(time.Second))
			return nil, f.err
		case counted >= c.Tries || waited+wait > c.RetryTotal:
			if n > 1 {
				f.err.Text += fmt.Sprintf(" (gave up after %d attempts)", n)
			}
			return nil, f.err
		}
		waited += wait
		progress(Progress{Attempt: n, Failed: f.err, After: wait})
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// pause is the wait after attempt n: doubling, with jitter so that those who
// failed together do not come back together, and never before the server asked for.
func pause(n int, after time.Duration) time.Duration {
	step := backoffMax
	if n <= 4 {
		step = backoffFirst << (n - 1)
	}
	jitter := rand.N(step / 2)
	if after > 0 {
		return after + jitter
	}
	return step/2 + jitter
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// ended is the error of a call whose context ended: both the context's error
// and its cause can be asked for.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return fmt.Errorf("model call: %w: %w", ctx.Err(), cause)
	}
	return fmt.Errorf("model call: %w", ctx.Err())
}

// retryable are the statuses that may change by themselves.
func retryable(status int) bool {
	return status == 408 || status == 409 || status == 429 || status >= 500
}

// askedWait reads how long the server wants us to wait: retry-after-ms, then
// Retry-After in seconds or as a date. Zero is: not told.
func askedWait(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil {
		return bounded(ms, time.Millisecond)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return bounded(s, time.Second)
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// bounded turns a number from outside into a duration between zero and a year.
func bounded(n float64, unit time.Duration) time.Duration {
	const year = 365 * 24 * time.Hour
	if !(n > 0) {
		return 0
	}
	if n > float64(year/unit) {
		return year
	}
	return time.Duration(n * float64(unit))
}

var (
	errNoAnswer = errors.New("no answer began")
	errStalled  = errors.New("the answer stopped")
	errSettled  = errors.New("the answer is complete")
)
