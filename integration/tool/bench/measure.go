package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"iter"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// measured are the roles whose costs are added.
var measured = []string{roleServer, roleWorker}

// role returns the processes of a role.
func (s *stage) role(name string) []*process {
	return slices.DeleteFunc(slices.Clone(s.processes), func(p *process) bool { return p.role != name })
}

// tick is the unit of /proc in microseconds, on every Linux system that Go supports.
const tick = 1e4

// ticks adds numbers of a line in /proc and returns microseconds.
func ticks(fields []string) (sum float64) {
	for _, f := range fields {
		n, _ := strconv.ParseFloat(f, 64)
		sum += n * tick
	}
	return sum
}

// cpuOf is the processor time of a process in microseconds. It is 0 on systems without /proc.
func cpuOf(pid string) float64 {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // after "pid (name)": state is the first
	return ticks(fields[11:13])                                               // user and system time
}

// machineCPU is the processor time that all processes, and the host of a virtual machine, have used.
func machineCPU() float64 {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal …
	return ticks(fields[1:4]) + ticks(fields[6:9])
}

// reading is the usage of processes since their start.
type reading struct {
	at         time.Time
	machine    float64 // processor time of all processes on the machine
	cpu        float64 // of those that bench has started, and of bench
	cumulative figures
}

func (s *stage) readUsage(ctx context.Context) (reading, error) {
	load := cpuOf("self")
	r := reading{machine: machineCPU(), cpu: load, cumulative: figures{roleLoad + "_cpu_us": load}}
	for _, p := range s.processes {
		cpu := cpuOf(p.pid())
		r.cpu += cpu
		r.cumulative[p.role+"_cpu_us"] += cpu
		if !slices.Contains(measured, p.role) {
			continue
		}
		r.cumulative["cpu_us"] += cpu
		if p.pprof == "" {
			continue
		}
		stats, err := p.heapStats(ctx, "")
		if err != nil {
			return r, err
		}
		r.cumulative[p.role+"_allocs"] += stats["Mallocs"]
		r.cumulative["allocs"] += stats["Mallocs"]
		r.cumulative["alloc_kb"] += stats["TotalAlloc"] / 1e3
	}
	r.at = time.Now()
	return r, nil
}

// usageSince returns the usage since a reading for each of n jobs or runs.
func (s *stage) usageSince(ctx context.Context, before reading, n int, unit string) (figures, error) {
	after, err := s.readUsage(ctx)
	if err != nil {
		return nil, err
	}
	wall := after.at.Sub(before.at).Seconds() * 1e6
	fs := figures{
		"cpu_cores":   (after.cumulative["cpu_us"] - before.cumulative["cpu_us"]) / wall,
		"other_cores": max(0, after.machine-before.machine-after.cpu+before.cpu) / wall,
	}
	for name, v := range after.cumulative {
		fs[name+"_per_"+unit] = (v - before.cumulative[name]) / float64(max(1, n))
	}
	return fs, nil
}

// heapStats reads runtime.MemStats from the end of the process's heap profile.
func (p *process) heapStats(ctx context.Context, options string) (figures, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.pprof+"heap?debug=1"+options, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	stats, lines := figures{}, bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "# "), " = ")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			stats[name] = n
		}
	}
	return stats, lines.Err()
}

// memory reads a line of /proc/PID/status, VmRSS or VmHWM, of the measured processes: the sum and each.
func (s *stage) memory(line, name string) figures {
	fs := figures{name: 0}
	for _, role := range measured {
		for _, p := range s.role(role) {
			data, _ := os.ReadFile("/proc/" + p.pid() + "/status")
			_, value, _ := strings.Cut(string(data), line+":")
			kb, _, _ := strings.Cut(strings.TrimSpace(value), " ")
			n, _ := strconv.ParseFloat(kb, 64)
			fs[role+"_"+name] += n * 1024 / 1e6
			fs[name] += n * 1024 / 1e6
		}
	}
	return fs
}

// resetPeaks makes VmHWM start again.
func (s *stage) resetPeaks() {
	for _, p := range s.processes {
		_ = os.WriteFile("/proc/"+p.pid()+"/clear_refs", []byte("5"), 0)
	}
}

// The background work after a phase has ended when the processes have been idle for some ticks in a row.
const (
	restTick  = 500 * time.Millisecond
	restIdle  = 25_000 // microseconds of processor time in an idle tick
	restTicks = 4
	restMost  = 30 * time.Second
)

// rest waits for the end of background work, and returns its processor time in microseconds.
func (s *stage) rest(ctx context.Context) (float64, error) {
	cpu := func() (sum float64) {
		for _, p := range append(s.role(roleServer), s.role(roleWorker)...) {
			sum += cpuOf(p.pid())
		}
		return sum
	}
	began := cpu()
	before, idle := began, -1 // the first look is no tick
	_, err := poll(ctx, restTick, time.Now().Add(restMost), func() (bool, error) {
		now := cpu()
		idle++
		if now-before >= restIdle {
			idle = 0
		}
		before = now
		return idle == restTicks, nil
	})
	return before - began, err
}

// The streams that are looked at.
const (
	streamHistory = "CARILLON_HISTORY"
	streamTimers  = "CARILLON_TIMERS_0"
	streamResults = "CARILLON_SPEC_RESULTS"
)

// stored are the streams that grow with the work, and the figure of a message in each.
var stored = []struct{ stream, figure string }{
	{"KV_carillon-jobs", "disk_bytes_per_definition"},
	{streamTimers, "disk_bytes_per_baton"},
	{streamHistory, "disk_bytes_per_record"},
	{"CARILLON_AUDIT", "disk_bytes_per_change"},
	{streamResults, "disk_bytes_per_result"},
}

// state returns the state of a stream.
func (s *stage) state(ctx context.Context, stream string) (jetstream.StreamState, error) {
	st, err := s.js.Stream(ctx, stream)
	if err != nil {
		return jetstream.StreamState{}, fmt.Errorf("stream %s: %w", stream, err)
	}
	return st.CachedInfo().State, nil
}

// look is the precision of times that streams are polled for.
const look = 20 * time.Millisecond

// awaitMessages polls a stream until done, or the deadline. It returns the time and the number of messages.
func (s *stage) awaitMessages(
	ctx context.Context, stream string, deadline time.Time, done func(messages int) bool,
) (at time.Time, messages int, err error) {
	_, err = poll(ctx, look, deadline, func() (bool, error) {
		state, err := s.state(ctx, stream)
		at, messages = time.Now(), int(state.Msgs)
		return done(messages), err
	})
	return at, messages, err
}

// disk returns the size of a message on disk, as JetStream counts it, in each stream that has messages.
func (s *stage) disk(ctx context.Context) (figures, error) {
	sizes := figures{}
	for _, k := range stored {
		state, err := s.state(ctx, k.stream)
		if err != nil {
			return nil, err
		}
		if state.Msgs > 0 {
			sizes[k.figure] = float64(state.Bytes) / float64(state.Msgs)
		}
	}
	return sizes, nil
}

// tally accounts for the calls of a calendar.
type tally struct {
	late                              []time.Duration // sorted
	last                              time.Time       // arrival of the last due instant
	lost, early, unexpected, repeated int
}

// account compares the calls that arrived with those expected in the measurement: their keys and instants. find returns
// the instant of a call at any time.
func (t *target) account(expected iter.Seq2[string, time.Time], find func(key string) (time.Time, bool)) (a tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, due := range expected {
		call, ok := t.arrivals[key]
		if !ok {
			a.lost++
			continue
		}
		a.late = append(a.late, call.first.Sub(due))
		if call.first.After(a.last) {
			a.last = call.first
		}
	}
	slices.Sort(a.late)
	for key, call := range t.arrivals {
		a.repeated += call.calls - 1
		due, ok := find(key)
		switch {
		case !ok:
			a.unexpected += call.calls
		case call.first.Before(due):
			a.early++
		}
	}
	return a
}

func (a tally) figures() figures {
	percentile := func(p int) float64 { // the lateness in milliseconds that p of 100 calls do not exceed
		if len(a.late) == 0 {
			return 0
		}
		return a.late[max(0, (len(a.late)*p+99)/100-1)].Seconds() * 1e3
	}
	return figures{
		"late_p50_ms": percentile(50),
		"late_p90_ms": percentile(90),
		"late_p99_ms": percentile(99),
		"late_max_ms": percentile(100),
		"lost":        float64(a.lost),
		"early":       float64(a.early),
		"unexpected":  float64(a.unexpected),
		"repeated":    float64(a.repeated),
	}
}
