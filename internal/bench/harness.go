package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// values are the figures of one round, by name.
type values map[string]float64

// side is one thing that is measured. All sides of a group run in each round,
// in turns, so that the load of the machine falls on subject and limit alike.
type side struct {
	name string
	run  func(e *env) (values, error)
}

// group is what is measured together: subjects and their limits.
type group struct {
	name  string
	sides func(e *env) ([]side, error) // also makes what all rounds share
	after func(v values)               // figures that follow from several sides of a round; may be nil
	rows  []row
	most  int // rounds at most, for what takes long and has no ratio; 0 is as many as asked for
}

// row is one line of the table.
type row struct {
	what    string
	subject string // name of the subject's figure
	limit   string // name of the limit's figure; empty where the target is a number by itself
	limitIs string // what the limit is, in words
	unit    string
	scale   float64 // shown figures are divided by it; 0 is 1
	want    want
}

// want is a target.
type want struct {
	ofValue bool // of the subject's figure; else of the ratio of subject and limit
	sign    string
	bound   float64
}

func ratio(sign string, bound float64) want { return want{false, sign, bound} }
func value(sign string, bound float64) want { return want{true, sign, bound} }

// met judges the figure that the table shows, three digits of it.
func (w want) met(v float64) bool {
	v = rounded(v)
	switch w.sign {
	case "≥":
		return v >= w.bound
	case "≤":
		return v <= w.bound
	case "=":
		return v == w.bound
	}
	return true
}

// errSkip is for what this machine cannot measure.
var errSkip = errors.New("not measured")

func skip(why string) error { return fmt.Errorf("%w: %s", errSkip, why) }

// env is what the groups work with.
type env struct {
	dir    string // scratch, on the disk that is measured
	root   string // of the repository
	quick  bool
	rounds int
	time   time.Duration // of one timed side
	made   int
	binary string
}

// sub makes a fresh folder below the scratch folder.
func (e *env) sub(name string) (string, error) {
	e.made++
	dir := filepath.Join(e.dir, fmt.Sprintf("%s-%d", name, e.made))
	return dir, os.MkdirAll(dir, 0o700)
}

// size is the larger figure, or the smaller one with -quick.
func (e *env) size(full, quick int) int {
	if e.quick {
		return quick
	}
	return full
}

// result is a row with its figures.
type result struct {
	row
	group           string
	rounds          int
	value, least    float64 // subject: median and least
	limitValue      float64
	ratio, min, max float64 // of the rounds' ratios
	err             error
}

// measure runs the rounds of a group.
func measure(e *env, g group, progress func(string)) []result {
	rounds, err := runRounds(e, g, progress)
	out := make([]result, len(g.rows))
	for i, r := range g.rows {
		out[i] = summary(r, rounds, err)
		out[i].group = g.name
	}
	return out
}

func runRounds(e *env, g group, progress func(string)) ([]values, error) {
	sides, err := g.sides(e)
	if err != nil {
		return nil, err
	}
	var rounds []values
	count := e.rounds
	if g.most > 0 {
		count = min(count, g.most)
	}
	for n := range count {
		v := values{}
		order := slices.Clone(sides)
		if n%2 == 1 {
			slices.Reverse(order)
		}
		for _, s := range order {
			progress(fmt.Sprintf("%s %d/%d: %s", g.name, n+1, count, s.name))
			got, err := s.run(e)
			if err != nil {
				return rounds, fmt.Errorf("%s: %w", s.name, err)
			}
			for k, x := range got {
				v[k] = x
			}
		}
		if g.after != nil {
			g.after(v)
		}
		rounds = append(rounds, v)
	}
	return rounds, nil
}

func summary(r row, rounds []values, err error) result {
	out := result{row: r, err: err, rounds: len(rounds)}
	var subject, limit, ratios []float64
	for _, v := range rounds {
		x, ok := v[r.subject]
		if !ok {
			out.err = errors.Join(out.err, fmt.Errorf("no figure %q", r.subject))
			return out
		}
		subject = append(subject, x)
		if r.limit != "" {
			limit, ratios = append(limit, v[r.limit]), append(ratios, x/v[r.limit])
		}
	}
	if len(subject) == 0 {
		return out
	}
	out.value, out.least = median(subject), slices.Min(subject)
	if r.limit != "" {
		out.limitValue, out.ratio = median(limit), median(ratios)
		out.min, out.max = slices.Min(ratios), slices.Max(ratios)
	}
	return out
}

// judged is the figure that the target is about.
func (r result) judged() float64 {
	if r.want.ofValue {
		return r.value / r.div()
	}
	return r.ratio
}

func (r result) div() float64 {
	if r.scale == 0 {
		return 1
	}
	return r.scale
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

func percentile(v []time.Duration, p float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[int(float64(len(v)-1)*p)].Seconds()
}
