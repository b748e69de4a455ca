package journal

import (
	"encoding/json"
	"os"
	"time"
)

// The kinds of the package itself. Their lines carry step 0 and this cause.
const (
	kindCreated   = "journal.created"   // Header; line 1 and nowhere else
	kindOpened    = "journal.opened"    // openedData; before the first append of a handle
	kindRecovered = "journal.recovered" // recoveredData; a torn tail was cut here
	kindClosed    = "journal.closed"    // closedData; the handle was closed in order
	kindMarked    = "journal.marked"    // {}; a second of quiet after an append
	kindClock     = "journal.clock"     // clockData; the wall clock stepped back
	kindLost      = "journal.lost"      // {}; in a salvaged copy, stands for a line that was lost
)

// OwnKinds lists the kinds of events that journals write of themselves.
func OwnKinds() []string {
	return []string{kindCreated, kindOpened, kindRecovered, kindClosed, kindMarked, kindClock, kindLost}
}

var ownCause = []byte(`{"kind":"journal"}`)

type openedData struct {
	Version string `json:"version"`
	BootID  string `json:"boot_id"`
	PID     int    `json:"pid"`
	MonoNS  int64  `json:"mono_ns"`
}

type recoveredData struct {
	DroppedBytes int64  `json:"dropped_bytes"`
	SHA256       string `json:"sha256"`
	FirstSeq     int64  `json:"first_seq"`
	Saved        string `json:"saved,omitempty"`
}

type closedData struct {
	SHA256 string `json:"sha256"`
}

type clockData struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// ownBody makes the body of a line of the package's own.
func ownBody(kind string, data any, at time.Time) []byte {
	d, err := json.Marshal(data)
	if err != nil {
		panic("journal: " + err.Error()) // structs of strings and numbers: cannot fail
	}
	r := Record{Cause: ownCause, Events: []Event{{Kind: kind, Data: d}}}
	return appendBody(nil, &r, at)
}

func openedBody(version string, at time.Time) []byte {
	return ownBody(kindOpened, openedData{version, bootID(), os.Getpid(), monotonic()}, at)
}
