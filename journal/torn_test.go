package journal

import (
	"bytes"
	"errors"
	"math/rand"
	"strconv"
	"testing"
)

// kept is the last seq of the file before Open added its own line about a torn tail.
func kept(r Recovery) int64 {
	if r.Torn != nil {
		return r.Torn.Seq - 1
	}
	return r.Last.Seq
}

// cut at any byte: what was acknowledged within the cut stays, and a file cut
// within line 1 was never given out.
func checkTruncation(s sample, n int) error {
	r, fs, err := verdict(s.data[:n])
	if n < bytes.IndexByte(s.data, '\n')+1 {
		if _, ok := errors.AsType[*CorruptError](err); !ok {
			return errors.New("a file without line 1 was opened")
		}
		return nil
	}
	if err != nil {
		return err
	}
	var acked int64
	for i := range s.starts {
		if i+1 == len(s.starts) {
			if n == len(s.data) {
				acked = int64(bytes.Count(s.data, []byte("\n")))
			}
		} else if s.starts[i+1] <= int64(n) {
			acked = s.seqs[i+1] - 1
		}
	}
	if kept(r) < acked {
		return errors.New("an acknowledged record is gone")
	}
	if end := bytes.LastIndexByte(s.data[:n], '\n') + 1; (r.Torn != nil) != (end < n) || r.Torn != nil &&
		(r.Torn.Saved == "" || !bytes.Equal(fs.bytes(r.Torn.Saved), s.data[end:n])) {
		return errors.New("the torn bytes were not put aside")
	}
	return nil
}

func allTruncations(s sample) error {
	for n := range len(s.data) + 1 {
		if err := checkTruncation(s, n); err != nil {
			return errors.Join(errors.New("cut at "+itoa(n)), err)
		}
	}
	return nil
}

// allSectorSubsets: a power cut within the last write leaves any of its sectors,
// the others filled with anything, and no acknowledged record may be missed or
// the file called damaged.
func allSectorSubsets(s sample) error {
	start := int(s.starts[len(s.starts)-1])
	acked := s.seqs[len(s.seqs)-1] - 1
	first := start / sector
	n := min((len(s.data)-1)/sector-first+1, 7)
	for mask := range 1 << n {
		for _, fill := range []byte{0, '\n', '{', 0xff} {
			f := bytes.Clone(s.data)
			for k := range n {
				if mask>>k&1 == 0 {
					lo, hi := max((first+k)*sector, start), min((first+k+1)*sector, len(f))
					copy(f[lo:hi], bytes.Repeat([]byte{fill}, hi-lo))
				}
			}
			r, _, err := verdict(f)
			if err != nil {
				return err
			}
			if kept(r) < acked {
				return errors.New("an acknowledged record is gone")
			}
		}
	}
	return nil
}

// allBitFlips: a flipped bit in a write that a later one covers is damage, and
// the file stays as it is. In the last write it may look torn.
func allBitFlips(s sample) error {
	start := int(s.starts[len(s.starts)-1])
	for i := range s.data {
		for bit := range 8 {
			f := bytes.Clone(s.data)
			f[i] ^= 1 << bit
			r, fs, err := verdict(f)
			_, corrupt := errors.AsType[*CorruptError](err)
			switch {
			case i < start && !corrupt:
				return errors.New("byte " + itoa(i) + ": an acknowledged record is gone without a word")
			case corrupt && !bytes.Equal(fs.bytes("/d/j"), f):
				return errors.New("the damaged file was changed")
			case i >= start && err == nil && r.Torn == nil:
				return errors.New("byte " + itoa(i) + ": a changed line was taken")
			case err != nil && !corrupt:
				return err
			}
		}
	}
	return nil
}

func itoa(n int) string { return strconv.Itoa(n) }

func TestTruncateAtEveryByte(t *testing.T) {
	if err := allTruncations(makeSample(t, true, 1, 3, 2, 1, 4)); err != nil {
		t.Fatal(err)
	}
}

func sectorSamples(t *testing.T) (out []sample) {
	r := rand.New(rand.NewSource(1))
	for range 24 {
		batches := make([]int, 1+r.Intn(4))
		for i := range batches {
			batches[i] = 1 + r.Intn(5)
		}
		out = append(out, makeSample(t, false, batches...))
	}
	return out
}

func TestEverySectorSubsetOfTheLastWrite(t *testing.T) {
	for _, s := range sectorSamples(t) {
		if err := allSectorSubsets(s); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryBitFlip(t *testing.T) {
	for _, closed := range []bool{true, false} {
		if err := allBitFlips(makeSample(t, closed, 1, 2, 1)); err != nil {
			t.Fatal(err)
		}
	}
}

// The tests above must notice a wrong rule: that is what makes them tests.
func TestWrongRulesAreNoticed(t *testing.T) {
	right := provesLoss
	defer func() { provesLoss = right }()
	wrong := map[string]func(batch, missing int64) bool{
		"any later line is damage":     func(int64, int64) bool { return true },
		"never damage":                 func(int64, int64) bool { return false },
		"its own write too":            func(batch, missing int64) bool { return batch >= missing },
		"only two writes further":      func(batch, missing int64) bool { return batch > missing+2 },
		"only an earlier write proves": func(batch, missing int64) bool { return batch < missing },
	}
	for name, rule := range wrong {
		provesLoss = rule
		noticed := false
		for _, s := range sectorSamples(t) {
			if noticed = allSectorSubsets(s) != nil; noticed {
				break
			}
		}
		if !noticed {
			noticed = allBitFlips(makeSample(t, false, 1, 2, 1)) != nil || allBitFlips(makeSample(t, true, 2, 3)) != nil
		}
		if !noticed {
			t.Errorf("%s: not noticed", name)
		}
	}
}
