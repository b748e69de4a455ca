package id

import (
	"strings"
	"testing"
	"time"
)

const owner = Session("01JDYH3M00041061050R3GG28A")

func TestMintSession(t *testing.T) {
	at := time.Date(2024, 12, 1, 0, 0, 0, 0, time.UTC)
	got := MintSession(at, Entropy{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	if again := MintSession(at, Entropy{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}); again != got {
		t.Errorf("the same time and entropy gave %s and %s", got, again)
	}
	if s, ok := ParseSession(string(got)); !ok || s != got {
		t.Errorf("ParseSession(%q) = %q, %v", got, s, ok)
	}
	if later := MintSession(at.Add(time.Second), Entropy{}); later <= got {
		t.Errorf("a later session sorts first: %s, %s", later, got)
	}
}

func TestParseSession(t *testing.T) {
	for _, bad := range []string{"", "x", strings.ToLower(string(owner)), string(owner) + "0", string(owner[1:]), "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
		"01JDYH3M00041061050R3GG2/A", "../../../../../../etc/passw", "01JDYH3M0004I061050R3GG28A"} {
		if s, ok := ParseSession(bad); ok {
			t.Errorf("ParseSession(%q) = %q", bad, s)
		}
	}
}

// A job's id names its session, so the same random number makes another id in
// another session, of this project or any.
//
// clause: JC-099
func TestMintJob(t *testing.T) {
	free := func(Job) bool { return false }
	if other := MintSession(time.Unix(1, 0), Entropy{1}); MintJob(owner, 7, free) == MintJob(other, 7, free) {
		t.Error("two sessions mint the same id")
	}
	a, b := MintJob(owner, 0, free), MintJob(owner, 1<<30-1, free)
	if a != "job_"+Job(owner)+"000000" || b != "job_"+Job(owner)+"ZZZZZZ" {
		t.Errorf("minted %s and %s", a, b)
	}
	// A taken id is passed over, the same way each time.
	taken := map[Job]bool{a: true}
	c := MintJob(owner, 0, func(j Job) bool { return taken[j] })
	if c != MintJob(owner, 1, free) {
		t.Errorf("after a taken id came %s", c)
	}
	for _, j := range []Job{a, b, c} {
		if got, ok := ParseJob(string(j)); !ok || got != j || j.Owner() != owner {
			t.Errorf("ParseJob(%q) = %q, %v; owner %q", j, got, ok, j.Owner())
		}
	}
}

func TestParseJob(t *testing.T) {
	good := "job_" + string(owner) + "0A1B2C"
	if _, ok := ParseJob(good); !ok {
		t.Errorf("ParseJob(%q) refused", good)
	}
	for _, bad := range []string{"", "job_", good[4:], "dlg_" + good[4:], good + "0", good[:len(good)-1], strings.ToLower(good),
		"job_" + string(owner) + "0A1B2I", "job_" + string(owner) + "../../", "job_8ZZZZZZZZZZZZZZZZZZZZZZZZZ0A1B2C", "job:" + good} {
		if j, ok := ParseJob(bad); ok {
			t.Errorf("ParseJob(%q) = %q", bad, j)
		}
	}
	if o := Job("job_short").Owner(); o != "" {
		t.Errorf("a malformed id has the owner %q", o)
	}
}
