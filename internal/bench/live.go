package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

func liveGroups() []group {
	mem := func(n string, bound float64) row {
		return row{what: "memory with " + n + " live jobs, keeper included", subject: "memory", unit: "MiB", scale: 1 << 20, want: value("≤", bound)}
	}
	cpu := row{what: "– CPU time of 3 quiet seconds", subject: "cpu", unit: "ms", want: value("=", 0)}
	end := row{what: "– the end of the run, which stops them", subject: "end", unit: "s", want: want{}}
	return []group{
		{name: "exit", sides: exitSides, rows: []row{
			{what: "exit of a job to its frame in an idle owner's request", subject: "exit", limit: "bare", limitIs: "wait + write and fdatasync + HTTP request", unit: "ms", scale: 1e-3, want: value("≤", 20)},
		}},
		{name: "live-50", sides: liveSides(50, 50), rows: []row{mem("50", 40), cpu, end}},
		{name: "live-delegates", most: 3, sides: liveDelegates, rows: []row{
			{what: "memory with 50 live delegates and 50 jobs, keeper included", subject: "memory", unit: "MiB", scale: 1 << 20, want: value("≤", 40)}, cpu, end}},
		{name: "live-1000", most: 3, sides: liveSides(1000, 100), rows: []row{mem("1,000", 150), cpu,
			{what: "– a start, of 1,000 in one reply", subject: "start", unit: "ms", scale: 1e-3, want: want{}}, end}},
	}
}

// liveSides start n jobs in one reply, hold the next reply back and look at the
// processes meanwhile.
func liveSides(full, quick int) func(*env) ([]side, error) {
	return func(e *env) ([]side, error) {
		n, all := e.size(full, quick), reply{}
		for range n {
			all.calls = append(all.calls, shell("exec sleep 3600", "background"))
		}
		return []side{{fmt.Sprintf("%d jobs", n), func(e *env) (values, error) {
			dir, err := e.sub("live")
			if err != nil {
				return nil, err
			}
			defer os.RemoveAll(dir)
			v, failed := values{}, error(nil)
			s, err := e.runSession(dir, func(s *session1, r request) reply {
				switch r.n {
				case 1:
					return all
				case 2:
					failed = look(s.cmd.Process.Pid, e, v)
				}
				return done // also to the note that jobs still run, after which they are ended
			})
			if err == nil {
				err = failed
			}
			if err == nil && len(s.answered) != 3 {
				err = fmt.Errorf("%d requests where 3 were awaited", len(s.answered))
			}
			if err != nil {
				return nil, err
			}
			v["end"] = s.start.Add(s.took).Sub(s.answered[2]).Seconds()
			v["start"] = s.arrivals[1].Sub(s.answered[0]).Seconds() / float64(n)
			return v, nil
		}}}, nil
	}
}

// liveDelegates start n delegates in one reply, each of which runs a command in the
// foreground. The root's next reply is held back until all of these run.
func liveDelegates(e *env) ([]side, error) {
	n, all := e.size(50, 10), reply{}
	for range n {
		all.calls = append(all.calls, call{"delegate", `{"prompt":"Run it."}`})
	}
	named := regexp.MustCompile(`dlg_\w{26}`)
	return []side{{fmt.Sprintf("%d delegates", n), func(e *env) (values, error) {
		dir, err := e.sub("live")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		v, failed, roots := values{}, error(nil), 0
		var stopping time.Time
		s, err := e.runSession(dir, func(s *session1, r request) reply {
			if bytes.Contains(r.body, []byte("You are a delegate")) {
				return reply{calls: []call{shell("exec sleep 3600", "")}}
			}
			switch roots++; roots {
			case 1:
				return all
			case 2:
				if failed = startedJobs(dir, n); failed == nil {
					failed = look(s.cmd.Process.Pid, e, v)
				}
				stopping = time.Now()
				out, seen := reply{}, map[string]bool{}
				for _, d := range named.FindAllString(string(r.body), -1) {
					if !seen[d] {
						seen[d] = true
						out.calls = append(out.calls, call{"job_stop", `{"target":"` + d + `"}`})
					}
				}
				return out
			}
			return done // also to their reports
		})
		if err == nil {
			err = failed
		}
		if err != nil {
			return nil, err
		}
		v["end"] = s.start.Add(s.took).Sub(stopping).Seconds()
		return v, nil
	}}}, nil
}

// startedJobs waits until the journals below a folder have the starts of n jobs.
func startedJobs(dir string, n int) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		have := 0
		journals, err := filepath.Glob(filepath.Join(dir, ".evener", "sessions", "*", "session.jsonl"))
		for _, j := range journals {
			b, rerr := os.ReadFile(j)
			if rerr != nil {
				err = rerr
			}
			have += bytes.Count(b, []byte(`"kind":"job.started"`))
		}
		switch {
		case err != nil:
			return err
		case have >= n:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%d jobs of %d have started", have, n)
		}
	}
}

func look(pid int, e *env, v values) error {
	keeper, err := keeperOf(pid)
	if err != nil {
		return err
	}
	lookAt(pid, keeper, e, v)
	return nil
}

// lookAt takes 0 for a keeper where none was started.
func lookAt(pid, keeper int, e *env, v values) {
	time.Sleep(time.Second) // what the starts left to tidy up is no quiet
	v["memory"] = memory(pid, "VmRSS") + memory(keeper, "VmRSS")
	before := ticks(pid) + ticks(keeper)
	time.Sleep(time.Duration(e.size(3, 1)) * time.Second)
	v["cpu"] = (ticks(pid) + ticks(keeper) - before) * 10
}
