package main

import (
	"fmt"
	"os"
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

func look(pid int, e *env, v values) error {
	keeper, err := keeperOf(pid)
	if err != nil {
		return err
	}
	time.Sleep(time.Second) // what the starts left to tidy up is no quiet
	v["memory"] = memory(pid, "VmRSS") + memory(keeper, "VmRSS")
	before := ticks(pid) + ticks(keeper)
	time.Sleep(time.Duration(e.size(3, 1)) * time.Second)
	v["cpu"] = (ticks(pid) + ticks(keeper) - before) * 10
	return nil
}
