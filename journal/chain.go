package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
)

// chain makes the closing hashes: SHA-256 of the hash before it, as 32 bytes,
// and of every byte from the line that carries that hash up to the line that
// will carry this one. So each byte of the file is covered, and a long journal
// that is opened again hashes only what is new.
type chain struct {
	h  hash.Hash
	to int64 // bytes of the file up to here are in
}

func newChain(last Closing) *chain {
	c := &chain{h: sha256.New(), to: last.Off}
	if prev, err := hex.DecodeString(last.SHA256); err == nil {
		c.h.Write(prev)
	}
	return c
}

// add takes in bytes that stand at off. Bytes behind a gap are left for catchUp.
func (c *chain) add(b []byte, off int64) {
	if off == c.to {
		c.h.Write(b)
		c.to += int64(len(b))
	}
}

// catchUp takes in what stands in the file up to off.
func (c *chain) catchUp(f file, off int64) error {
	if c.to >= off {
		return nil
	}
	return eachChunk(f, c.to, off, func(b []byte) error {
		c.add(b, c.to)
		return nil
	})
}

// sum is the closing hash of what was taken in; the chain then goes on from it.
func (c *chain) sum() string {
	s := c.h.Sum(nil)
	c.h.Reset()
	c.h.Write(s)
	return hex.EncodeToString(s)
}

var errShort = errors.New("file is shorter than it was")

// eachChunk reads the bytes from one offset to another.
func eachChunk(f file, from, to int64, do func([]byte) error) error {
	buf := make([]byte, min(1<<20, to-from))
	for from < to {
		n, err := f.readAt(buf[:min(int64(len(buf)), to-from)], from)
		if err == nil && n == 0 {
			err = errShort
		}
		if err != nil {
			return fmt.Errorf("read at offset %d: %w", from, err)
		}
		if err := do(buf[:n]); err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}
