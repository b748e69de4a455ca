package proc

import (
	"encoding/binary"
	"errors"
	"io"
)

// Frames between evener and its keeper: four bytes of length, then a kind and
// its fields. Descriptors travel with the four bytes, so that no read of a body
// can swallow those of a later frame. Strings are bytes: paths and variables need
// not be UTF-8.

type kind byte

const (
	// evener to keeper
	askStart  kind = iota + 1 // job, path, dir, script, argv, env; descriptors: output, gate
	askStop                   // job, grace in ns
	askLeft                   // job
	askForget                 // job
	// keeper to evener
	sayStarted // job, pid, ticks, errno, what failed
	sayExited  // job, wait status, whether others may be left
	sayStopped // job, survivors
	sayLeft    // job, count
)

const (
	frameHead = 4
	frameMax  = 64 << 20 // an environment and a command are far below it
)

var errFrame = errors.New("malformed frame between evener and its keeper")

type packer struct{ b []byte }

func pack(k kind, job string) *packer {
	p := &packer{b: make([]byte, frameHead, 256)}
	p.b = append(p.b, byte(k))
	return p.str(job)
}

func (p *packer) num(n int64) *packer {
	p.b = binary.AppendVarint(p.b, n)
	return p
}

func (p *packer) str(s string) *packer {
	p.num(int64(len(s)))
	p.b = append(p.b, s...)
	return p
}

func (p *packer) strs(list []string) *packer {
	p.num(int64(len(list)))
	for _, s := range list {
		p.str(s)
	}
	return p
}

func (p *packer) nums(list []int) *packer {
	p.num(int64(len(list)))
	for _, n := range list {
		p.num(int64(n))
	}
	return p
}

// frame is the whole of it, length first.
func (p *packer) frame() []byte {
	binary.LittleEndian.PutUint32(p.b, uint32(len(p.b)-frameHead))
	return p.b
}

// unpacker reads fields in order; a short frame sets err and gives zero values.
type unpacker struct {
	b   []byte
	err error
}

func (u *unpacker) num() int64 {
	n, size := binary.Varint(u.b)
	if size <= 0 {
		u.b, u.err = nil, errFrame
		return 0
	}
	u.b = u.b[size:]
	return n
}

// count is a length that the rest of the frame can hold.
func (u *unpacker) count() int {
	n := u.num()
	if n < 0 || n > int64(len(u.b)) {
		u.b, u.err = nil, errFrame
		return 0
	}
	return int(n)
}

func (u *unpacker) str() string {
	n := u.count()
	s := string(u.b[:n])
	u.b = u.b[n:]
	return s
}

func (u *unpacker) strs() []string {
	list := make([]string, u.count())
	for i := range list {
		list[i] = u.str()
	}
	return list
}

func (u *unpacker) nums() []int {
	var list []int
	for range u.count() {
		list = append(list, int(u.num()))
	}
	return list
}

// readBody reads what follows the four bytes of length.
func readBody(r io.Reader, head []byte) (kind, *unpacker, error) {
	n := binary.LittleEndian.Uint32(head)
	if n == 0 || n > frameMax {
		return 0, nil, errFrame
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, err
	}
	return kind(body[0]), &unpacker{b: body[1:]}, nil
}
