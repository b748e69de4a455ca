package watch

import "evener/internal/id"

// Event is a fact about a watch.
type Event interface {
	Kind() string
	WatchID() id.Watch
}

// Created: the watch is active.
type Created struct {
	Watch      id.Watch   `json:"watch_id"`
	Config     Config     `json:"config"`
	Manager    id.Session `json:"manager_session_id"`   // whose source it is, and whose bound of live watches counts it
	Generation int64      `json:"generation,omitempty"` // of a delegate source: the one that is watched
	Replaces   id.Watch   `json:"replaces,omitempty"`
}

// Class is which condition of a watch was met.
type Class string

const (
	Match    Class = "match"
	Happened Class = "event"
	Progress Class = "progress"
	Tick     Class = "timer"
)

// Fired: the condition was met Count times; the frame of this delivery is owed
// in place of the one that it replaces, whose counts and excerpts are in it.
type Fired struct {
	Watch    id.Watch `json:"watch_id"`
	Class    Class    `json:"class"`
	Delivery string   `json:"delivery_id"`
	Count    int64    `json:"count"`
	Replaces string   `json:"replaces,omitempty"`
	Excerpts []string `json:"excerpts,omitempty"` // the latest lines that matched
}

// Counted: the watched event happened, and every passes it over.
type Counted struct {
	Watch id.Watch `json:"watch_id"`
}

// Dropped: an echo of the watch's own frames went too deep and was not delivered.
type Dropped struct {
	Watch id.Watch `json:"watch_id"`
	Depth int      `json:"influence_depth"`
}

// Rearmed: a new process goes on with the watch.
type Rearmed struct {
	Watch id.Watch `json:"watch_id"`
}

// Why a watch ended.
const (
	AutoRemoved     = "auto_removed_terminal"
	Cleared         = "cleared"
	Replaced        = "replaced"
	OneShot         = "fired"
	BudgetExhausted = "budget_exhausted"
	RuntimeLost     = "runtime_lost"
	OutputLost      = "output_lost"        // output went past before it was searched
	ManagerClosed   = "job_manager_closed" // the session that held it was stopped
)

// Ended: the watch is active no more.
type Ended struct {
	Watch  id.Watch `json:"watch_id"`
	Reason string   `json:"reason"`
}

// RecentCleared: a new process begins its list of watches that have ended.
type RecentCleared struct{}

func (Created) Kind() string       { return "watch.created" }
func (Fired) Kind() string         { return "watch.fired" }
func (Counted) Kind() string       { return "watch.counted" }
func (Dropped) Kind() string       { return "watch.dropped" }
func (Rearmed) Kind() string       { return "watch.rearmed" }
func (Ended) Kind() string         { return "watch.ended" }
func (RecentCleared) Kind() string { return "watch.recent_cleared" }

func (e Created) WatchID() id.Watch     { return e.Watch }
func (e Fired) WatchID() id.Watch       { return e.Watch }
func (e Counted) WatchID() id.Watch     { return e.Watch }
func (e Dropped) WatchID() id.Watch     { return e.Watch }
func (e Rearmed) WatchID() id.Watch     { return e.Watch }
func (e Ended) WatchID() id.Watch       { return e.Watch }
func (RecentCleared) WatchID() id.Watch { return "" } // of no single one
