// Package id holds the typed identifiers: how they look, how they are parsed
// and how they are minted from a given time and entropy. Minting is pure, so
// that a decision made twice from its recorded inputs gives the same ids.
//
//	session   26 characters, a ULID
//	job       "job_" + the owner session's ULID + 6 characters of its own
//	watch     "watch_" + the same of the session that watches
//	delegate  "dlg_" + the ULID of its session
//
// A job id names its owner, so that job:<job_id> is found without an index; a
// delegate's id names its session for the same reason.
// To callers it is opaque.
package id

import (
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Session identifies a session: a ULID in its canonical upper-case form.
type Session string

// Job identifies a shell job.
type Job string

const (
	jobPrefix = "job_"
	ulidLen   = 26
	ownLen    = 6
	alphabet  = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // Crockford base 32, as in a ULID
)

// Entropy is 10 fresh random bytes: what one session id needs.
type Entropy [10]byte

// MintSession makes a session id from a time and entropy.
func MintSession(at time.Time, e Entropy) Session {
	var u ulid.ULID
	// SetTime fails only past the year 10889; the zero time that it then leaves is still a valid id.
	_ = u.SetTime(ulid.Timestamp(at))
	_ = u.SetEntropy(e[:])
	return Session(u.String())
}

// ParseSession accepts exactly the canonical form.
func ParseSession(s string) (Session, bool) {
	u, err := ulid.ParseStrict(s)
	if err != nil || u.String() != s {
		return "", false
	}
	return Session(s), true
}

// MintJob makes a job id of an owner from 30 random bits. taken reports ids
// in use; a taken one is passed over by counting up, so the result is the
// same whenever the state is.
func MintJob(owner Session, random uint32, taken func(Job) bool) Job {
	return mint(jobPrefix, owner, random, taken)
}

func mint[ID ~string](prefix string, owner Session, random uint32, taken func(ID) bool) ID {
	for {
		var own [ownLen]byte
		for i, r := 0, random; i < ownLen; i++ {
			own[i] = alphabet[r&31]
			r >>= 5
		}
		if x := ID(prefix + string(owner) + string(own[:])); !taken(x) {
			return x
		}
		random++
	}
}

// ParseJob accepts exactly the form that MintJob makes.
func ParseJob(s string) (Job, bool) {
	rest, ok := strings.CutPrefix(s, jobPrefix)
	if !ok || len(rest) != ulidLen+ownLen {
		return "", false
	}
	if _, ok := ParseSession(rest[:ulidLen]); !ok {
		return "", false
	}
	for _, c := range rest[ulidLen:] {
		if !strings.ContainsRune(alphabet, c) {
			return "", false
		}
	}
	return Job(s), true
}

// Owner is the session that owns the job; empty for a malformed id.
func (j Job) Owner() Session {
	if len(j) != len(jobPrefix)+ulidLen+ownLen {
		return ""
	}
	return Session(j[len(jobPrefix) : len(jobPrefix)+ulidLen])
}

// Watch identifies a watch, as a job's id does a job.
type Watch string

const watchPrefix = "watch_"

// MintWatch makes a watch id in the same way.
func MintWatch(owner Session, random uint32, taken func(Watch) bool) Watch {
	return mint(watchPrefix, owner, random, taken)
}

// Delegate identifies a delegate.
type Delegate string

const delegatePrefix = "dlg_"

// DelegateOf is the delegate whose conversation is this session.
func DelegateOf(s Session) Delegate { return Delegate(delegatePrefix + string(s)) }

// ParseDelegate accepts exactly the form that DelegateOf makes.
func ParseDelegate(s string) (Delegate, bool) {
	rest, ok := strings.CutPrefix(s, delegatePrefix)
	if !ok {
		return "", false
	}
	if _, ok := ParseSession(rest); !ok {
		return "", false
	}
	return Delegate(s), true
}

// Session is the delegate's session.
func (d Delegate) Session() Session { return Session(strings.TrimPrefix(string(d), delegatePrefix)) }
