package proc

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// fdReader and fdWriter use a blocking descriptor directly: the keeper's main
// goroutine owns its thread and has nothing else to do.
type fdReader int

func (fd fdReader) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(fd), p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

type fdWriter int

func (fd fdWriter) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := unix.Write(int(fd), p[done:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// receive reads the head of a frame and the descriptors that came with it.
func receive(sock int) (head []byte, fds []int, err error) {
	head, oob := make([]byte, frameHead), make([]byte, unix.CmsgSpace(2*4))
	n, oobn := 0, 0
	for {
		n, oobn, _, _, err = unix.Recvmsg(sock, head, oob, recvFlags)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return nil, nil, io.EOF
	}
	fds, err = parseRights(oob[:oobn])
	if err == nil && n < len(head) {
		_, err = io.ReadFull(fdReader(sock), head[n:])
	}
	return head, fds, err
}

// socket is evener's end, whose reads and writes wait without holding a thread.
// It is a file rather than a connection of package net, whose start would be the
// larger part of a keeper's.
type socket struct{ *os.File }

func newSocket(fd int) (*socket, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("setnonblock", err)
	}
	return &socket{os.NewFile(uintptr(fd), "keeper")}, nil
}

// sendRights sends bytes, and descriptors with the first of them.
func (s *socket) sendRights(b []byte, fds []int) error {
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	n, failed := 0, error(nil)
	err = raw.Write(func(fd uintptr) bool {
		for {
			n, failed = unix.SendmsgN(int(fd), b, unix.UnixRights(fds...), nil, 0)
			if failed != unix.EINTR {
				return failed != unix.EAGAIN
			}
		}
	})
	if err == nil {
		err = failed
	}
	if err == nil && n < len(b) {
		_, err = s.Write(b[n:])
	}
	return err
}

// endWriting lets the other end read its end.
func (s *socket) endWriting() error {
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	failed := error(nil)
	err = raw.Control(func(fd uintptr) { failed = unix.Shutdown(int(fd), unix.SHUT_WR) })
	if err == nil {
		err = failed
	}
	return err
}

func parseRights(oob []byte) ([]int, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var fds []int
	for i := range msgs {
		list, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			return nil, err
		}
		fds = append(fds, list...)
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd) // where receiving cannot set it
	}
	return fds, nil
}

func asErrno(err error) syscall.Errno {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e
	}
	return syscall.EIO
}
