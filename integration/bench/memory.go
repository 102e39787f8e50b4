package main

import (
	"os"
	"strconv"
	"strings"
)

// self is how the system's files name this process.
const self = "self"

// resident returns the resident memory of a process and its peak, in bytes,
// as Linux tells them; zero elsewhere.
func resident(pid string) (now, peak int64) {
	data, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB\n")), 10, 64)
		switch name {
		case "VmRSS":
			now = kb << 10
		case "VmHWM":
			peak = kb << 10
		}
	}
	return now, peak
}

// forgetPeak makes the peak of a process begin anew, where the system allows it.
func forgetPeak(pid string) {
	_ = os.WriteFile("/proc/"+pid+"/clear_refs", []byte("5"), 0)
}

// forgetPeaks makes the peaks of all that is measured begin anew.
func (s *stage) forgetPeaks() {
	forgetPeak(self)
	for _, p := range s.processes {
		forgetPeak(p.pid())
	}
}

// memory is the resident memory and its peak as figures: of this process or, where what is measured runs apart, of NATS
// server and scheduler together and of each.
func (s *stage) memory() figures {
	return append(s.residentAs("rss_mb", func(now, _ int64) int64 { return now }),
		s.residentAs("rss_peak_mb", func(_, peak int64) int64 { return peak })...)
}

// residentNow is the resident memory alone, as name.
func (s *stage) residentNow(name string) figures {
	return s.residentAs(name, func(now, _ int64) int64 { return now })
}

func (s *stage) residentAs(name string, choose func(now, peak int64) int64) figures {
	if !s.apart() {
		return figures{{name, float64(choose(resident(self))) / 1e6}}
	}
	var all int64
	var each figures
	for _, r := range s.measured() {
		var sum int64
		for _, p := range r.processes {
			sum += choose(resident(p.pid()))
		}
		all += sum
		each = append(each, figure{r.name + "_" + name, float64(sum) / 1e6})
	}
	return append(figures{{name, float64(all) / 1e6}}, each...)
}

// role is the processes of one name.
type role struct {
	name      string
	processes []*process
}

// measured are the NATS server and the schedulers, which the costs are of: not the sink, and not this process.
func (s *stage) measured() []role {
	var roles []role
	for _, name := range []string{processServer, processWorker} {
		if of := s.role(name); len(of.processes) > 0 {
			roles = append(roles, of)
		}
	}
	return roles
}

// role returns the processes of a name.
func (s *stage) role(name string) role {
	r := role{name: name}
	for _, p := range s.processes {
		if p.name == name {
			r.processes = append(r.processes, p)
		}
	}
	return r
}
