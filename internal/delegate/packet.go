package delegate

import (
	"encoding/json"
	"fmt"
)

// Packet is the terminal packet of a generation: what its owner reads, in a
// frame or as the answer of the call that waited for it. The detailed message
// and the structured result are both kept; the one never stands for the other.
type Packet struct {
	Status  Status `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	// Result is the structured result: absent, an explicit null, or a value.
	Result json.RawMessage `json:"structured_result,omitempty"`
	// ResultError says why there is no structured result that fits result_schema.
	ResultError string `json:"structured_result_error,omitempty"`
	Error       string `json:"error,omitempty"`
	// LastText is what a delegate said that did not report: a diagnostic, no report.
	LastText string `json:"last_text,omitempty"`
	Ref      string `json:"transcript_ref"`
	// Watching and Watches are what the delegate goes on watching, as it stands at
	// the end of its run; no words of its own can forge them.
	Watching bool            `json:"watching,omitempty"`
	Watches  json.RawMessage `json:"watches,omitempty"` // as job_list lists them
}

// JSON is the packet as a frame carries it. encoding/json escapes <, so nothing
// in it can close the frame or open another.
func (p Packet) JSON() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic("delegate: packet does not encode: " + err.Error()) // plain fields, and JSON that was checked
	}
	return string(b)
}

// Identities of what is owed, derived from what caused it.

// ReportID is the delivery of a generation's packet.
func ReportID(s *State) string { return fmt.Sprintf("%s/%d", s.ID, s.Generation) }

// UpdateID is the delivery of the open generation's next update.
func UpdateID(s *State) string {
	return fmt.Sprintf("%s/%d/update/%d", s.ID, s.Generation, s.Updates+1)
}
