// Package fault holds the refusal codes of the contract. A refusal is an
// answer to the caller: it names the action and the boundary, and writes
// nothing. Damage and system failures are other kinds of error.
package fault

import "fmt"

// Code is a canonical code. It begins the text of a tool error, so that a
// model, a script and a test can branch on it.
type Code string

const (
	InvalidRequest       Code = "invalid_request"
	PermissionRequired   Code = "permission_required"
	TargetNotFound       Code = "target_not_found"
	TargetTerminal       Code = "target_terminal"
	TargetNotMessageable Code = "target_not_messageable"
	TargetNotResumable   Code = "target_not_resumable"
	SourceNotWatchable   Code = "source_not_watchable"
	TargetNotWatchable   Code = "target_not_watchable"
	NotControllable      Code = "not_controllable"
	OutputUnavailable    Code = "output_unavailable"
	TreeAtCapacity       Code = "tree_at_capacity"
	UnknownTool          Code = "unknown_tool"
	Closing              Code = "session_closing"
	Interrupted          Code = "interrupted"
	StateFull            Code = "state_full"
	LegacyDelegateState  Code = "legacy_delegate_state"
	LegacyDelegateWatch  Code = "legacy_delegate_watch_state"
	FileNotFound         Code = "file_not_found"
	FileUnread           Code = "file_unread"
	FileChanged          Code = "file_changed"
	FileDenied           Code = "file_denied"
	FileFailed           Code = "file_failed"
	DirectoryGone        Code = "directory_gone"
)

// Error is a refusal.
type Error struct {
	Code Code
	Text string
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Text }

// New makes a refusal; the text is formatted as with fmt.Sprintf.
func New(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Text: fmt.Sprintf(format, args...)}
}

// Invalid is New with invalid_request, the commonest code.
func Invalid(format string, args ...any) *Error { return New(InvalidRequest, format, args...) }
