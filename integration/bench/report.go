package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// report is what all runs of a scenario found.
type report struct {
	options

	runs [][]part
}

// faults says what must not have happened.
func (r *report) faults() []string {
	var out []string
	for i, parts := range r.runs {
		for _, p := range parts {
			for _, f := range p.figures {
				if f.value != 0 && slices.Contains(faulty, f.name) {
					out = append(out, fmt.Sprintf("run %d, %s: %s %s", i+1, p.name, f.text(), f.name))
				}
			}
		}
	}
	return out
}

func (r *report) write(w io.Writer, asJSON bool) error {
	if asJSON {
		return r.writeJSON(w)
	}
	return r.writeTable(w)
}

// setup is how the measurement was made.
type setup struct {
	Scenario string  `json:"scenario"`
	N        int     `json:"n,omitempty"`
	Rate     int     `json:"rate_per_s,omitempty"`
	Interval float64 `json:"interval_s,omitempty"`
	Window   float64 `json:"window_s,omitempty"`
	Shape    string  `json:"shape"`
	Conn     string  `json:"conn"`
	Sync     string  `json:"sync,omitempty"`
	CPUs     int     `json:"cpus"`
	Go       string  `json:"go"`
	Server   string  `json:"nats_server,omitempty"`
	Runs     int     `json:"runs"`
}

func (r *report) setup() setup {
	s := setup{
		Scenario: r.scenario.name, N: r.n, Shape: r.shape, Conn: r.conn, Sync: r.sync, CPUs: runtime.GOMAXPROCS(0),
		Go: runtime.Version(), Server: serverVersion(), Runs: len(r.runs),
	}
	if r.scenario.rate > 0 {
		s.N, s.Rate, s.Interval, s.Window = 0, r.rate, r.interval.Seconds(), r.window.Seconds()
	}
	return s
}

// serverVersion is the version of the NATS server in this program.
func serverVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/nats-io/nats-server/v2" {
			return m.Version
		}
	}
	return ""
}

func (r *report) writeJSON(w io.Writer) error {
	out := struct {
		setup

		Figures byPart   `json:"figures"` // the medians
		Each    []byPart `json:"each,omitempty"`
		Faults  []string `json:"faults"`
	}{setup: r.setup(), Figures: median(r.runs), Faults: append([]string{}, r.faults()...)}
	if len(r.runs) > 1 {
		for _, parts := range r.runs {
			out.Each = append(out.Each, parts)
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

// byPart is an object with the parts by name.
type byPart []part

// MarshalJSON writes the parts in their order.
func (p byPart) MarshalJSON() ([]byte, error) {
	var members []string
	for _, q := range p {
		value, err := json.Marshal(q.figures)
		if err != nil {
			return nil, err
		}
		members = append(members, strconv.Quote(q.name)+":"+string(value))
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}

func (r *report) writeTable(w io.Writer) error {
	s := r.setup()
	fmt.Fprintf(w, "%s", s.Scenario)
	if s.N > 0 {
		fmt.Fprintf(w, " n=%d", s.N)
	}
	if s.Rate > 0 {
		fmt.Fprintf(w, " rate=%d/s interval=%gs window=%gs", s.Rate, s.Interval, s.Window)
	}
	if s.Sync != "" {
		fmt.Fprintf(w, " sync=%s", s.Sync)
	}
	fmt.Fprintf(w, " shape=%s conn=%s cpus=%d %s nats-server %s", s.Shape, s.Conn, s.CPUs, s.Go, s.Server)
	if s.Runs > 1 {
		fmt.Fprintf(w, " median of %d runs", s.Runs)
	}
	fmt.Fprintln(w)
	parts := median(r.runs)
	names := figureNames(parts)
	titles := make([]string, len(parts))
	for i, p := range parts {
		titles[i] = p.name
	}
	text := func(part, name int) string {
		v, ok := parts[part].figures.find(names[name])
		if !ok {
			return "-"
		}
		return figure{value: v}.text()
	}
	if len(parts) > 4 {
		return writeGrid(w, titles, names, text)
	}
	return writeGrid(w, names, titles, func(row, column int) string { return text(column, row) })
}

// writeGrid writes a table of figures.
func writeGrid(w io.Writer, rows, columns []string, figure func(row, column int) string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "\t%s\t\n", strings.Join(columns, "\t"))
	for i, row := range rows {
		fmt.Fprint(tw, row)
		for j := range columns {
			fmt.Fprintf(tw, "\t%s", figure(i, j))
		}
		fmt.Fprintln(tw, "\t")
	}
	return tw.Flush()
}

// figureNames are the names of all figures, in the order of the parts.
func figureNames(parts []part) []string {
	var names []string
	for _, p := range parts {
		for _, f := range p.figures {
			if !slices.Contains(names, f.name) {
				names = append(names, f.name)
			}
		}
	}
	return names
}
