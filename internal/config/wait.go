package config

import (
	"fmt"
	"strconv"
	"time"
)

var waitJobs = otherFlag{
	name: "wait-jobs", doc: "wait for running jobs at the end of the run, at most `DURATION` such as 90s or 2h if one is given", value: waitTime,
}

// waitTime is wait_jobs_ms as the flag says it: a duration, or true for the
// flag alone.
func waitTime(s string) (ms string, bad string) {
	switch s {
	case "true":
		return "-1", ""
	case "false":
		return "0", ""
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d%time.Millisecond != 0 {
		return "", fmt.Sprintf("got %q; want a duration such as 90s or 2h, in whole milliseconds", short(s))
	}
	return strconv.FormatInt(d.Milliseconds(), 10), ""
}
