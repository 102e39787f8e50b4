package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// figures are measured values by name. A name ends with the unit.
type figures map[string]float64

// merge returns all figures together.
func merge(all ...figures) figures {
	merged := figures{}
	for _, fs := range all {
		maps.Copy(merged, fs)
	}
	return merged
}

// prefixed returns the figures with a prefix to all names.
func (fs figures) prefixed(prefix string) figures {
	named := figures{}
	for name, v := range fs {
		named[prefix+name] = v
	}
	return named
}

// rate is the time that n took, and how many that is a second.
func rate(name string, n int, took time.Duration) figures {
	return figures{name + "_s": took.Seconds(), name + "_per_s": float64(n) / took.Seconds()}
}

// report is the result of all runs. Its figures are medians by side, such as "carillon", and medians of the ratios of two sides
// in the same run, such as "carillon/bare".
type report struct {
	Scenario  string               `json:"scenario"`
	N         int                  `json:"n,omitempty"`
	Rate      int                  `json:"rate_per_s,omitempty"`
	Seconds   float64              `json:"seconds,omitempty"`
	Listeners int                  `json:"listeners,omitempty"`
	Sync      string               `json:"sync,omitempty"`
	Against   string               `json:"against,omitempty"`
	CPUs      int                  `json:"cpus"`
	Go        string               `json:"go"`
	Figures   map[string]figures   `json:"figures"`
	Runs      []map[string]figures `json:"runs"`
	Faults    []string             `json:"faults"`
}

// faulty are the figures that must be 0.
var faulty = []string{"lost", "early", "unexpected", "unsettled", "published_rejected", "requested_rejected"}

// newReport computes the report. A run is the figures by side.
func newReport(o options, runs []map[string]figures) *report {
	r := &report{
		Scenario: o.scenario.name, N: o.n, Sync: o.sync, Against: o.against, CPUs: runtime.NumCPU(), Go: runtime.Version(),
		Figures: map[string]figures{}, Faults: []string{},
	}
	if o.scenario.n == 0 {
		r.N = 0
	}
	if o.scenario.n <= 1 {
		r.Rate, r.Seconds, r.Listeners = o.rate, o.seconds, o.listeners
	}
	values := map[string]map[string][]float64{} // by title and name
	for i, run := range runs {
		all := maps.Clone(run)
		for side, fs := range run {
			for _, name := range faulty {
				if fs[name] != 0 {
					r.Faults = append(r.Faults, fmt.Sprintf("run %d, %s: %g %s", i+1, side, fs[name], name))
				}
			}
			if side != sideCarillon {
				all[sideCarillon+"/"+side] = ratios(run[sideCarillon], fs)
			}
		}
		for title, fs := range all {
			if values[title] == nil {
				values[title] = map[string][]float64{}
			}
			for name, v := range fs {
				fs[name] = math.Round(v*1e4) / 1e4
				values[title][name] = append(values[title][name], fs[name])
			}
		}
		r.Runs = append(r.Runs, all)
	}
	for title, names := range values {
		r.Figures[title] = figures{}
		for name, vs := range names {
			slices.Sort(vs)
			r.Figures[title][name] = (vs[(len(vs)-1)/2] + vs[len(vs)/2]) / 2
		}
	}
	return r
}

// ratios divides the figures that neither side has as 0.
func ratios(of, by figures) figures {
	fs := figures{}
	for name, v := range of {
		if v != 0 && by[name] != 0 {
			fs[name] = v / by[name]
		}
	}
	return fs
}

// write prints the report as JSON or as a table.
func (r *report) write(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	fmt.Fprintf(w, "%s n=%d", r.Scenario, r.N)
	if r.Rate > 0 {
		fmt.Fprintf(w, " rate=%d/s seconds=%g", r.Rate, r.Seconds)
	}
	if r.Listeners > 0 {
		fmt.Fprintf(w, " listeners=%d", r.Listeners)
	}
	fmt.Fprintf(w, " runs=%d cpus=%d %s %s\n", len(r.Runs), r.CPUs, r.Go, r.Sync)
	titles, names := slices.Sorted(maps.Keys(r.Figures)), figures{}
	for _, fs := range r.Figures {
		names = merge(names, fs)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "\t%s\t\n", strings.Join(titles, "\t"))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprint(tw, name)
		for _, title := range titles {
			cell := "-"
			if v, ok := r.Figures[title][name]; ok {
				cell = fmt.Sprintf("%.6g", v)
			}
			fmt.Fprintf(tw, "\t%s", cell)
		}
		fmt.Fprintln(tw, "\t")
	}
	return tw.Flush()
}

// explanations explain each figure. A test compares them with the figures of all scenarios.
const explanations = `
  server_ worker_          the share of nats-server, and of carillon serve (bare: the consumer)
  target_ load_            the same of the target and of bench itself, which are not included in sums
  killed_                  restart: after kill -9
  published_ requested_    register: of published specs, and of API requests

  register_s _per_s        time to create all jobs, and jobs a second, 64 requests in flight; bare: to publish the schedules
  stored_s _per_s          register: until the server has stored all specs
  armed_s _per_s           register: from the first spec until every job has its baton
  accepted_s _per_s        register: from the first spec until every spec has its result
  rejected                 register: jobs without a baton
  delivered_s _per_s       from the due instant to the arrival of the last call, and calls a second in this time
  events                   number of published ones
  occurrences              due instants of the measurement, or runs that events start
  late_p50_ms late_p90_ms  lateness of a call, from its instant, or the publication of its event, to its arrival: percentiles
  late_p99_ms
  late_max_ms              and its maximum
  lost                     due instants without a call
  early                    calls before their instant
  unexpected               calls that belong to no instant, or have the URL or body of another job
  repeated                 calls with the key of an earlier one, which a target can recognize
  settled_s                from the due instant until the history has a record of every call
  drained_s                and until, after that, no baton is left
  unsettled                missing records and remaining batons
  surplus_records          records beyond one for each job
  killed_s killed_arrived  kill: from the due instant to the kill, and the calls that had arrived before
  cpu_us_per_job _run      processor time of server and worker, also _event; herd: including the time before the instant
  allocs_per_job _run      their allocations; bare: of the server only
  alloc_kb_per_job _run    the size of these in kB
  cpu_cores                processors that server and worker kept busy
  other_cores              processors that all other programs kept busy: times say little unless this is near 0
  rest_cpu_us_per_job      processor time after the measurement until the processes are idle, which is not included above
  rss_mb rss_peak_mb       resident memory of server and worker in MB at the end, and its maximum during the measurement
  rss_idle_mb              hold: when the processes are idle
  rss_gc_mb                hold: after a quiet minute and a garbage collection
  rss_gc_bytes_per_job     the same for each job
  heap_bytes_per_job       hold: live heap after the garbage collection
  disk_bytes_per_definition disk_bytes_per_baton disk_bytes_per_record disk_bytes_per_change disk_bytes_per_result
                           size as JetStream counts it, also of a change in the audit log, and of the result of a spec
  stop_s                   restart: time to stop nats-server gracefully
  server_s                 restart: from the start of nats-server until it answers
  api_s ready_s            restart: until carillon serve, started then, answers, and until a new job has called the target
  rss_restart_mb           restart: resident memory when the processes are idle again
`
