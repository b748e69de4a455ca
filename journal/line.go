package journal

import (
	"hash/crc32"
	"strconv"
	"time"
)

// A line, in this order and without spaces:
//
//	{"seq":S,"b":B,"step":N,"at":"T","cause":{…},"events":[{"kind":"K","data":V},…],"crc":"XXXXXXXX"}⏎
//
// The checksum covers every byte from { up to, not including, the comma before
// "crc", so that a line is verified without parsing JSON.
const (
	lineStart  = `{"seq":`
	batchKey   = `,"b":`
	stepKey    = `,"step":`
	atKey      = `,"at":"`
	causeKey   = `","cause":`
	eventsKey  = `,"events":[`
	kindKey    = `{"kind":"`
	dataKey    = `","data":`
	crcKey     = `,"crc":"`
	sealLen    = len(crcKey) + 8 + len(`"}`)
	timeLayout = "2006-01-02T15:04:05.000000Z"
	headMax    = len(lineStart) + 16 + len(batchKey) + 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendBody appends what stands between the batch number and the checksum.
func appendBody(b []byte, r *Record, at time.Time) []byte {
	b = append(b, stepKey...)
	b = strconv.AppendInt(b, r.Step, 10)
	b = append(b, atKey...)
	b = appendTime(b, at.UTC())
	b = append(b, causeKey...)
	b = append(b, r.Cause...)
	b = append(b, eventsKey...)
	for i := range r.Events {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, kindKey...)
		b = append(b, r.Events[i].Kind...)
		b = append(b, dataKey...)
		b = append(b, r.Events[i].Data...)
		b = append(b, '}')
	}
	return append(b, ']')
}

// appendTime writes a time of the years 1 to 9999 as timeLayout does, without
// reading the layout for each line.
func appendTime(b []byte, at time.Time) []byte {
	year, month, day := at.Date()
	hour, minute, second := at.Clock()
	b = appendDigits(b, year, 4, '-')
	b = appendDigits(b, int(month), 2, '-')
	b = appendDigits(b, day, 2, 'T')
	b = appendDigits(b, hour, 2, ':')
	b = appendDigits(b, minute, 2, ':')
	b = appendDigits(b, second, 2, '.')
	return appendDigits(b, at.Nanosecond()/1000, 6, 'Z')
}

func appendDigits(b []byte, n, width int, end byte) []byte {
	var d [7]byte
	d[width] = end
	for i := width - 1; i >= 0; i-- {
		d[i] = byte('0' + n%10)
		n /= 10
	}
	return append(b, d[:width+1]...)
}

// appendLine appends the whole line of a body.
func appendLine(b []byte, seq, batch int64, body []byte) []byte {
	from := len(b)
	b = append(b, lineStart...)
	b = strconv.AppendInt(b, seq, 10)
	b = append(b, batchKey...)
	b = strconv.AppendInt(b, batch, 10)
	b = append(b, body...)
	sum := hexSum(crc32.Checksum(b[from:], castagnoli))
	b = append(b, crcKey...)
	b = append(b, sum[:]...)
	return append(b, "\"}\n"...)
}

func hexSum(c uint32) (h [8]byte) {
	const digits = "0123456789abcdef"
	for i := 7; i >= 0; i-- {
		h[i] = digits[c&15]
		c >>= 4
	}
	return h
}

// sealed reports whether the checksum of a line (without newline) is right.
func sealed(line []byte) bool {
	n := len(line) - sealLen
	if n < 0 || string(line[n:n+len(crcKey)]) != crcKey || string(line[len(line)-2:]) != `"}` {
		return false
	}
	sum := hexSum(crc32.Checksum(line[:n], castagnoli))
	return string(line[n+len(crcKey):len(line)-2]) == string(sum[:])
}

// parseHead reads seq and batch, and returns where the body begins, or -1.
func parseHead(line []byte) (seq, batch int64, body int) {
	if len(line) < len(lineStart) || string(line[:len(lineStart)]) != lineStart {
		return 0, 0, -1
	}
	seq, i := parseInt(line, len(lineStart))
	if i = eat(line, i, batchKey); i < 0 {
		return 0, 0, -1
	}
	batch, i = parseInt(line, i)
	if i < 0 || batch < 1 || batch > seq {
		return 0, 0, -1
	}
	return seq, batch, i
}

// parseInt reads a decimal number without sign or leading zeros, below 2^53.
func parseInt(b []byte, i int) (n int64, end int) {
	from := i
	for i < len(b) && isDigit(b[i]) && i-from < 16 {
		n = n*10 + int64(b[i]-'0')
		i++
	}
	if i == from || n > maxInt || b[from] == '0' && i > from+1 {
		return 0, -1
	}
	return n, i
}

// eat returns the index past w if w stands at i, or -1.
func eat(b []byte, i int, w string) int {
	if i < 0 || len(b)-i < len(w) || string(b[i:i+len(w)]) != w {
		return -1
	}
	return i + len(w)
}
