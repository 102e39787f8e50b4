// Package size is `carillon size`, which prints the resources for a number of jobs and runs.
package size

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/capacity"
)

// Command is `carillon size`.
type Command struct {
	Jobs          Count         `required:"true" help:"Number of jobs, such as 150k or 10M." placeholder:"N"`
	Runs          Rate          `help:"Runs that are due in a second, minute, hour or day, such as 500/s or 2M/h." default:"1/s" placeholder:"N/UNIT"`
	Burst         Count         `help:"The most jobs that are due at one instant, such as midnight." placeholder:"N"`
	Attempt       time.Duration `help:"How long an attempt usually takes." default:"200ms" placeholder:"DURATION"`
	Replicas      int           `help:"Copies of all data: 1, 3 or 5." default:"3" enum:"1,3,5" placeholder:"N"`
	HistoryAge    time.Duration `help:"How long to keep history." default:"1440h" placeholder:"DURATION"`
	HistoryPerJob Count         `name:"history-per-job" help:"Records to keep per outcome and job. 0: unlimited." default:"90000" placeholder:"N"`
}

// Run prints the estimate.
func (c Command) Run(t *terminal.Terminal) error {
	l := capacity.Load{
		Jobs: float64(c.Jobs), Runs: float64(c.Runs), Burst: float64(c.Burst), Attempt: c.Attempt.Seconds(),
		History: c.HistoryAge.Seconds(), PerJob: float64(c.HistoryPerJob), Replicas: c.Replicas,
	}
	switch {
	case l.Jobs < 1:
		return terminal.Usagef("--jobs: must be at least 1")
	case l.Burst > l.Jobs:
		return terminal.Usagef("--burst: %s jobs cannot be due at one instant: there are %s (--jobs)", short(l.Burst), short(l.Jobs))
	case c.Attempt < 0:
		return terminal.Usagef("--attempt: must not be negative")
	case c.HistoryAge < 0:
		return terminal.Usagef("--history-age: must not be negative")
	}
	f, err := capacity.Measured()
	if err != nil {
		return err
	}
	p := f.Needs(l)
	if t.JSON {
		return t.PrintJSON(p)
	}
	return printPlan(t, p)
}

func printPlan(t *terminal.Terminal, p capacity.Plan) error {
	row := func(name string, of capacity.Processes) []string {
		disk := "-"
		if of.Disk > 0 {
			disk = bytes(of.Disk)
		}
		return []string{
			name, strconv.Itoa(of.Number), strconv.Itoa(of.Cores), bytes(of.Memory), disk, bytes(of.Network) + "/s",
		}
	}
	err := t.Table([]string{"PROCESSES", "NUMBER", "CORES EACH", "MEMORY EACH", "DISK EACH", "NETWORK EACH"},
		[][]string{row("nats-server", p.Servers), row("carillon serve", p.Serve)})
	if err != nil {
		return err
	}
	t.Printf("\nStart carillon serve with --replicas %d --lanes %d --concurrency %d --hold-memory %.0fMiB.\n",
		p.Load.Replicas, p.Lanes, p.Concurrency, p.Hold/(1<<20))
	t.Printf("If most jobs call one target, set --per-target, too: a target gets a quarter of --concurrency by default.\n")
	t.Printf("The history keeps %s records.\n", short(p.Records))
	if p.Load.Burst > 0 {
		t.Printf("%s jobs that are due at one instant have started after %s.\n", short(p.Load.Burst), seconds(p.BurstSeconds))
	}
	t.Printf("\n")
	rows := terminal.All(p.Limits, func(l capacity.Limit) []string {
		return []string{l.Name, short(l.Used), short(l.Most), fmt.Sprintf("%.0f %%", 100*l.Used/l.Most)}
	})
	if err := t.Table([]string{"LIMIT OF THE DESIGN", "USED", "OF", "SHARE"}, rows); err != nil {
		return err
	}
	for _, l := range p.Limits {
		if l.Used > capacity.Usage*l.Most {
			t.Complain("warning", l.Name+": the load is near or beyond it; divide the jobs between schedulers with another --prefix")
		}
	}
	if p.Servers.Disk > muchDisk && p.Records > 0 {
		t.Complain("hint", "--history-age and --history-per-job shorten the history, which takes most of the disk")
	}
	return nil
}

// muchDisk is the disk of a server from which on a shorter history is worth a hint.
const muchDisk = 100e9

// Count is a number with an optional suffix: k, M or G for thousands, millions and billions.
type Count float64

// UnmarshalText reads a count.
func (c *Count) UnmarshalText(text []byte) error {
	s, factor := string(text), 1.0
	if s != "" {
		if f := map[byte]float64{'k': 1e3, 'K': 1e3, 'M': 1e6, 'm': 1e6, 'G': 1e9, 'g': 1e9}[s[len(s)-1]]; f > 0 {
			s, factor = s[:len(s)-1], f
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if n *= factor; err != nil || !(n >= 0 && n <= mostCount) {
		return fmt.Errorf("must be a number such as 500, 150k or 10M, not %q", text)
	}
	*c = Count(n)
	return nil
}

// mostCount is the largest count: larger ones are mistakes.
const mostCount = 1e12

// Rate is a number a second.
type Rate float64

// UnmarshalText reads a rate such as 500/s or 2M/h. The default unit is the second.
func (r *Rate) UnmarshalText(text []byte) error {
	number, unit, given := strings.Cut(string(text), "/")
	if !given {
		unit = "s"
	}
	var n Count
	per, known := map[string]float64{"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}[unit]
	if err := n.UnmarshalText([]byte(number)); err != nil || !known {
		return fmt.Errorf("must be a number a second, minute, hour or day, such as 500/s, 100/m, 2M/h or 1000/d, not %q", text)
	}
	*r = Rate(float64(n) / per)
	return nil
}

// short prints a number in three digits.
func short(n float64) string { return scaled(n, 1, "", "k", "M", "G") }

// bytes prints a size in two or three digits.
func bytes(n float64) string { return scaled(n, 1, " B", " kB", " MB", " GB", " TB", " PB") }

// scaled prints n with the largest unit that leaves at least 1.
func scaled(n, unit float64, names ...string) string {
	i := 0
	for ; i < len(names)-1 && n >= 999.5*unit; i++ {
		unit *= 1e3
	}
	if n /= unit; n < 9.95 && n != math.Trunc(n) {
		return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0") + names[i]
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + names[i]
}

// seconds prints a duration to a tenth of a second.
func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(100 * time.Millisecond).String()
}
