package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/capacity"
)

// capacityNames are the reports that the costs of `carillon size` come from.
var capacityNames = []string{"steady45", "steady500", "steady2000", "steady500r3", "herd50k", "hold100k", "hold300k", "register20k"}

// checkNames are the reports that the model of `carillon size` is compared with.
var checkNames = []string{"steady1000r3", "hold1M"}

// capacityReports are the measured figures, by the file of a report.
type capacityReports map[string]map[string]float64

func readCapacity(dir string) (capacityReports, error) {
	reports := capacityReports{}
	for _, name := range slices.Concat(capacityNames, checkNames) {
		data, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			return nil, err
		}
		var rep report
		if err := json.Unmarshal(data, &rep); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if reports[name] = rep.Figures[sideCarillon]; len(rep.Faults) > 0 || reports[name] == nil {
			return nil, fmt.Errorf("%s: %d figures, faults: %q", name, len(reports[name]), rep.Faults)
		}
	}
	return reports, nil
}

// units are the costs of one job, run or record.
func (c capacityReports) units() [][2]string {
	cost := func(report, prefix, unit string) string {
		own := func(name string) float64 { return c[report][prefix+name+"cpu_us_per_"+unit] }
		return fmt.Sprintf("%.2f ms (NATS: %.0f %%)", (own("")+own("rest_"))/1e3, 100*own("server_")/own(""))
	}
	memory := func(report string) string {
		return fmt.Sprintf("NATS: %.0f MB, `serve`: %.0f MB", c[report]["server_rss_peak_mb"], c[report]["worker_rss_peak_mb"])
	}
	disk := func(of string) float64 { return c["steady500"]["disk_bytes_per_"+of] }
	return [][2]string{
		{"processor time of a run, 45 a second", cost("steady45", "", "run")},
		{"processor time of a run, 500 a second", cost("steady500", "", "run")},
		{"processor time of a run, 50,000 at one instant", cost("herd50k", "", "job")},
		{"processor time of a new job, by an API request", cost("register20k", "requested_", "job")},
		{"processor time of a new job, by a published spec", cost("register20k", "published_", "job")},
		{"memory of a waiting job, at most", kilobytes(c["hold100k"]["rss_gc_bytes_per_job"])},
		{"memory at 500 runs a second", memory("steady500")},
		{"memory with 50,000 runs at one instant", memory("herd50k")},
		{"disk for a job with its baton", kilobytes(disk("definition") + disk("baton"))},
		{"disk for a history record", kilobytes(disk("record")) + ", and the stored answer with its headers"},
		{"disk for a change in the audit log", kilobytes(disk("change"))},
		{"disk for the result of a spec", kilobytes(c["register20k"]["disk_bytes_per_result"])},
	}
}

// figures are the costs for `carillon size`.
func (c capacityReports) figures() capacity.Figures {
	cost := func(report string, rate float64) capacity.Cost {
		return capacity.Cost{PerSecond: rate, Server: c[report]["server_cpu_us_per_run"], Serve: c[report]["worker_cpu_us_per_run"]}
	}
	herd, disk := c["herd50k"], c["steady500"]
	memory := func(role string) capacity.Memory {
		few, many := c["hold100k"][role+"_rss_gc_mb"]*1e6, c["hold300k"][role+"_rss_gc_mb"]*1e6
		job := max(0, many-few) / 200e3
		return capacity.Memory{
			Base: max(0, few-100e3*job), Job: job, Burst: max(0, herd[role+"_rss_peak_mb"]*1e6-few+50e3*job) / 50e3,
		}
	}
	return capacity.Figures{
		Runs:         []capacity.Cost{cost("steady45", 45), cost("steady500", 500), cost("steady2000", 2000)},
		Replicated:   cost("steady500r3", 500),
		Burst:        capacity.Cost{Server: herd["server_cpu_us_per_job"], Serve: herd["worker_cpu_us_per_job"]},
		StreamWrites: c["register20k"]["published_stored_per_s"],
		Server:       memory("server"),
		Serve:        memory("worker"),
		Disk: capacity.Disk{
			Definition: disk["disk_bytes_per_definition"], Baton: disk["disk_bytes_per_baton"],
			Change: disk["disk_bytes_per_change"], Record: disk["disk_bytes_per_record"],
		},
	}
}

func kilobytes(n float64) string { return fmt.Sprintf("%.1f kB", n/1e3) }

// checks compare the model with measurements that it does not come from.
func (c capacityReports) checks() [][2]string {
	f := c.figures()
	cores := f.Cores(capacity.Load{Runs: 1000, Replicas: 3})
	held := capacity.Load{Jobs: 1e6, Replicas: 1}
	memory := f.Needs(held)
	row := func(name, unit string, predicted, measured float64) [2]string {
		return [2]string{name, fmt.Sprintf("%.2f %s, measured %.2f", predicted, unit, measured)}
	}
	return [][2]string{
		row("1,000 runs a second, three replicas", "processors", cores.Server+cores.Serve, c["steady1000r3"]["cpu_us_per_run"]/1e3),
		row("1,000,000 waiting jobs", "GB", (memory.Servers.Memory+memory.Serve.Memory)/1e9, c["hold1M"]["rss_gc_mb"]/1e3),
	}
}

// writeCapacity prints the rows of the tables of costs and checks in Markdown, or the figures of `carillon size` as JSON.
func writeCapacity(w io.Writer, dir string, asJSON bool) error {
	c, err := readCapacity(dir)
	if err != nil {
		return err
	}
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(c.figures())
	}
	rows := append(c.units(), c.checks()...)
	widths := [2]int{}
	for _, row := range rows {
		widths[0], widths[1] = max(widths[0], len(row[0])), max(widths[1], len(row[1]))
	}
	for _, row := range rows {
		fmt.Fprintf(w, "| %-*s | %-*s |\n", widths[0], row[0], widths[1], row[1])
	}
	return nil
}

// target is the HTTP server that all jobs call, in a separate process, and the calls that it has written to a file.
type target struct {
	url string

	mu       sync.Mutex
	calls    *bufio.Reader
	line     string             // incomplete
	arrivals map[string]arrival // by Idempotency-Key
}

// arrival is the calls with one key.
type arrival struct {
	first time.Time
	calls int
}

func (s *stage) startTarget(ctx context.Context) (*target, error) {
	file, err := os.Create(filepath.Join(s.dir, "calls"))
	if err != nil {
		return nil, err
	}
	url, err := s.spawnChild(ctx, roleTarget, "__target", file.Name())
	return &target{url: url, calls: bufio.NewReader(file), arrivals: map[string]arrival{}}, err
}

// read takes over the calls since the last one, and returns the number of different keys.
func (t *target) read() (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		line, err := t.calls.ReadString('\n')
		t.line += line
		if errors.Is(err, io.EOF) {
			return len(t.arrivals), nil
		}
		at, key, _ := strings.Cut(strings.TrimSuffix(t.line, "\n"), " ")
		ns, parseErr := strconv.ParseInt(at, 10, 64)
		if err = errors.Join(err, parseErr); err != nil {
			return 0, err
		}
		a, known := t.arrivals[key]
		if !known {
			a.first = time.Unix(0, ns)
		}
		a.calls++
		t.arrivals[key], t.line = a, ""
	}
}

// runTarget is the target's process. For each call it appends a line with the time in nanoseconds and the key to a file.
func runTarget(ctx context.Context, ready func(url string) error, args []string) error {
	calls, err := os.OpenFile(args[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now, key := time.Now(), r.Header.Get("Idempotency-Key")
		body, err := io.ReadAll(r.Body)
		name := strings.TrimPrefix(r.URL.Path, "/")
		if err != nil || !strings.HasPrefix(key, "default/"+name+"@") || string(body) != jobBody(name) {
			key = "mixed up: " + key
		}
		if _, err := fmt.Fprintf(calls, "%d %s\n", now.UnixNano(), key); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := ready("http://" + l.Addr().String() + "/"); err != nil {
		return err
	}
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
