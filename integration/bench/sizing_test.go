package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The worked example of the page of operations: jobs every hour, jobs every minute, and jobs that are due at midnight.
const (
	exampleHourly   = 100_000
	exampleMinutely = 1_000
	exampleMidnight = 50_000
	exampleDays     = 60
	examplePerJob   = 90_000 // the default of --history-per-job
)

const hours, minutes = 24, 24 * 60 // of a day

// TestSizing computes the tables of sizes in the page of operations from what bench has measured, which is in
// testdata/sizing. When it is measured anew, with the commands that the page shows, it tells the rows to put there.
func TestSizing(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "cmd", "carillon", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(` +`).ReplaceAllString(string(page), " ")
	for _, row := range append(unitRows(t), exampleRows(t)...) {
		if want := "| " + strings.Join(row, " | ") + " |"; !strings.Contains(text, want) {
			t.Errorf("the page has no row\n%s", want)
		}
	}
}

// unitRows are what one job, run or record costs.
func unitRows(t *testing.T) [][]string {
	t.Helper()
	rare, often, herd, hold := measured(t, "steady45"), measured(t, "steady500"), measured(t, "herd50k"), measured(t, "hold100k")
	published, called := measuredPart(t, "register20k", "published"), measuredPart(t, "register20k", "called")
	herdRun := func(f figuresOf) string {
		return fmt.Sprintf("%.2f ms, %.0f %% of it NATS'", (f["cpu_us_per_job"]+f["rest_cpu_us_per_job"])/1e3, percent(f["server_cpu_us_per_job"], f["cpu_us_per_job"]))
	}
	run := func(f figuresOf) string {
		return fmt.Sprintf("%.2f ms, %.0f %% of it NATS'", f["cpu_us_per_run"]/1e3, percent(f["server_cpu_us_per_run"], f["cpu_us_per_run"]))
	}
	put := func(f figuresOf) string {
		return fmt.Sprintf("%.2f ms, %.0f %% of it NATS'", f["cpu_us_per_job"]/1e3, percent(f["server_cpu_us_per_job"], f["cpu_us_per_job"]))
	}
	return [][]string{
		{"processor time of a run, 45 a second", run(rare)},
		{"the same, 500 a second", run(often)},
		{"the same, 50,000 at one instant", herdRun(herd)},
		{"the same of a job that is put; published", put(called) + "; " + put(published)},
		{"memory of a job that waits", kilobytes(hold["rss_gc_bytes_per_job"]) + ", at the most"},
		{"memory at 500 runs a second", fmt.Sprintf("%.0f MB of NATS, %.0f of `serve`", often["server_rss_peak_mb"], often["worker_rss_peak_mb"])},
		{"memory of 50,000 at one instant", fmt.Sprintf("%.0f MB of NATS, %.0f of `serve`", herd["server_rss_peak_mb"], herd["worker_rss_peak_mb"])},
		{"disk for a job, with its baton", kilobytes(hold["disk_bytes_per_definition"] + often["disk_bytes_per_baton"])},
		{"disk for a record of the history", kilobytes(often["disk_bytes_per_record"]) + ", and twice the answer that is kept"},
		{"disk for a change, in the audit log", kilobytes(hold["disk_bytes_per_change"])},
		{"disk for the result of a spec", kilobytes(published["disk_bytes_per_verdict"])},
	}
}

// exampleRows are the worked example.
func exampleRows(t *testing.T) [][]string {
	t.Helper()
	rare, often, herd, hold := measured(t, "steady45"), measured(t, "steady500"), measured(t, "herd50k"), measured(t, "hold100k")
	jobs := float64(exampleHourly + exampleMinutely + exampleMidnight)
	rate := float64(exampleHourly)/3600 + float64(exampleMinutely)/60
	records := func(most int) float64 {
		kept := func(jobs, runs int) float64 { return float64(jobs) * float64(min(runs*exampleDays, most)) }
		return kept(exampleHourly, hours) + kept(exampleMinutely, minutes) + kept(exampleMidnight, 1)
	}
	gigabytes := func(n float64) string { return fmt.Sprintf("%.0f GB", n/1e9) }
	record := often["disk_bytes_per_record"]
	return [][]string{
		{"runs", fmt.Sprintf("%.0f a second, and 50,000 at midnight", rate)},
		{"processors, all day", fmt.Sprintf("%.0f %% of one", 100*rate*rare["cpu_us_per_run"]/1e6)},
		{"processor time at midnight", fmt.Sprintf("%.0f s", exampleMidnight*(herd["cpu_us_per_job"]+herd["rest_cpu_us_per_job"])/1e6)},
		{"memory, but for midnight", fmt.Sprintf("%.1f GB", jobs*hold["rss_gc_bytes_per_job"]/1e9)},
		{"disk for jobs", fmt.Sprintf("%.1f GB", jobs*(hold["disk_bytes_per_definition"]+often["disk_bytes_per_baton"]+hold["disk_bytes_per_change"])/1e9)},
		{"disk for history, by default", fmt.Sprintf("%s, %.0f million records", gigabytes(records(examplePerJob)*record), records(examplePerJob)/1e6)},
		{"`--history-per-job 1000`", fmt.Sprintf("%s, %.0f million records", gigabytes(records(1000)*record), records(1000)/1e6)},
		{"`--history-per-job 100`", fmt.Sprintf("%s, %.0f million records", gigabytes(records(100)*record), records(100)/1e6)},
	}
}

func percent(part, all float64) float64 { return 100 * part / all }

func kilobytes(n float64) string { return fmt.Sprintf("%.1f KB", n/1e3) }

// figuresOf are the figures of one part of a report, by name.
type figuresOf map[string]float64

func measured(t *testing.T, file string) figuresOf { return measuredPart(t, file, orderCarillon) }

// measuredPart reads what bench -json has printed.
func measuredPart(t *testing.T, file, part string) figuresOf {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "sizing", file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Figures map[string]figuresOf `json:"figures"`
		Faults  []string             `json:"faults"`
	}
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(report.Faults) > 0 || len(report.Figures[part]) == 0 {
		t.Fatalf("%s: %d figures of %s, faults: %v", file, len(report.Figures[part]), part, report.Faults)
	}
	return report.Figures[part]
}
