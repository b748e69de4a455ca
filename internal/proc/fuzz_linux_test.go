package proc

import (
	"bytes"
	"reflect"
	"strconv"
	"testing"
)

// FuzzFrame: any bytes in place of a frame are fields or an error, and no length in them is
// believed that they do not have; what was packed comes out again.
func FuzzFrame(f *testing.F) {
	f.Add(pack(askStart, "job_1").str("/bin/bash").str("/").str("").strs([]string{"bash", "-c", "x\xff"}).strs(nil).frame())
	f.Add(pack(sayExited, "job_1").num(-9).num(1).frame())
	f.Add(pack(sayStopped, "job_1").nums([]int{1, -1, 1 << 40}).frame())
	f.Add([]byte{1, 0, 0, 0, 3})
	f.Add([]byte{6, 0, 0, 0, 3, 0xfe, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 3})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) < frameHead {
			return
		}
		what, in, err := readBody(bytes.NewReader(raw[frameHead:]), raw[:frameHead])
		if err != nil {
			return
		}
		rest := *in
		job, n, list, numbers := rest.str(), rest.num(), rest.strs(), rest.nums()
		size := len(job)
		for _, s := range list {
			size += len(s)
		}
		if size+len(list)+len(numbers) > 3*len(raw) {
			t.Errorf("%d bytes gave %d bytes, %d strings and %d numbers", len(raw), size, len(list), len(numbers))
		}
		b := pack(what, job).num(n).strs(list).nums(numbers).frame()
		again, back, err := readBody(bytes.NewReader(b[frameHead:]), b[:frameHead])
		if err != nil || again != what || back.str() != job || back.num() != n || !reflect.DeepEqual(back.strs(), list) || !reflect.DeepEqual(back.nums(), numbers) || back.err != nil || len(back.b) > 0 {
			t.Errorf("%v %q %d %q %v comes back otherwise", what, job, n, list, numbers)
		}
	})
}

// FuzzStat: the kernel's line on a process is read whatever the process calls itself.
func FuzzStat(f *testing.F) {
	f.Add([]byte("bash"), 4711, 12, true)
	f.Add([]byte(") Z 1 1 1 (x\n"), 1, 0, false)
	f.Fuzz(func(t *testing.T, name []byte, ppid, session int, dead bool) {
		parseStat(1, name) // any line at all
		state := "S"
		if dead {
			state = "Z"
		}
		var b bytes.Buffer
		b.WriteString("77 (")
		b.Write(name)
		b.WriteString(") " + state)
		for i := range 25 {
			switch i {
			case 0:
				b.WriteString(" " + strconv.Itoa(ppid))
			case 2:
				b.WriteString(" " + strconv.Itoa(session))
			default:
				b.WriteString(" 5")
			}
		}
		p, ok := parseStat(77, b.Bytes())
		if !ok || p.ppid != ppid || p.session != session || p.dead != dead || p.ticks != 5 {
			t.Errorf("%q is read as %+v %v", b.Bytes(), p, ok)
		}
	})
}
