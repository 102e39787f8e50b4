package forecast

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Proposal is an edit of a job that lowers a peak.
type Proposal struct {
	Job   string          `json:"job"`   // collection/job
	Way   Way             `json:"way"`   // the kind of edit
	Patch json.RawMessage `json:"patch"` // of the job (RFC 7396)
	From  time.Time       `json:"from"`  // the minute that has a run less
	Peak  int             `json:"peak"`  // the most runs in a minute after this edit and those before
}

// Way is how an edit spreads runs.
type Way string

// The ways. Neither lets a job run before its present time.
const (
	// ByJitter delays each run by a share of a span, and leaves the schedule as it is.
	ByJitter Way = "jitter"
	// ByHash has the job's name choose the minute of a cron schedule that names the full
	// hour.
	ByHash Way = "hash"
)

// The numbers of proposals.
const (
	DefaultProposals = 100
	MaxProposals     = 10_000
)

const (
	// leastGap is how many minutes there must be between two runs of a job for it to be
	// moved: jitter is at most half of that.
	leastGap = 4

	// widest is the most jitter that is proposed.
	widest = 30 * time.Minute
)

// Candidates returns the jobs to move to lower the peaks, up to most of them, in order of priority: each is one of
// the least frequent jobs in the minute that is then the highest.
func (f *Forecast) Candidates(most int) []scheduler.Key {
	totals := f.totals()
	var keys []scheduler.Key
	runs := 0
	for _, n := range totals {
		runs += n
	}
	floor := level(float64(runs) / float64(f.minutes))
	queues := map[int][]candidate{}
	moved := map[int32]bool{}
	for len(keys) < most {
		peak := slices.Index(totals, slices.Max(totals))
		if totals[peak] <= max(floor, 1) {
			break
		}
		queue, known := queues[peak]
		if !known {
			queue = f.movable(peak)
		}
		for len(queue) > 0 && moved[queue[0].job] {
			queue = queue[1:]
		}
		if len(queue) == 0 {
			break
		}
		next := queue[0]
		queues[peak] = queue[1:]
		moved[next.job] = true
		add(totals, next.class, -1)
		keys = append(keys, f.jobs[next.job].key)
	}
	return keys
}

// level is how many runs a minute may have without need to lower it: as many as hardly
// any has when runs come at random, two standard deviations above the average.
func level(average float64) int { return int(math.Ceil(average + 2*math.Sqrt(average))) }

// candidate is a job that may be moved.
type candidate struct {
	job   int32
	class *class
}

// movable are the jobs that run in a minute and may be moved, those first that run
// least often.
func (f *Forecast) movable(minute int) []candidate {
	var classes []*class
	for _, c := range f.classes {
		if len(c.jobs) > 0 && c.in(minute) > 0 {
			classes = append(classes, c)
		}
	}
	slices.SortStableFunc(classes, func(a, b *class) int { return a.runs - b.runs })
	var all []candidate
	for _, c := range classes {
		for _, at := range c.jobs {
			if !f.jobs[at].still {
				all = append(all, candidate{at, c})
			}
		}
	}
	return all
}

// Propose adds to a report the edits that move jobs. jobs are the compiled jobs that [Forecast.Candidates] returned, in
// its order. Edits without effect on the peak are omitted.
func (f *Forecast) Propose(r *Report, jobs []*scheduler.Job) {
	totals := slices.Clone(r.PerMinute)
	for _, j := range jobs {
		before, err := f.classOf(j, nil)
		if err != nil {
			continue
		}
		peak := slices.Index(totals, slices.Max(totals))
		at := peak
		if before.in(peak) == 0 && len(before.entries) > 0 {
			at = int(before.entries[0].minute)
		}
		p, after := f.move(j, before)
		if after == nil {
			continue
		}
		add(totals, before, -1)
		add(totals, after, 1)
		if highest := slices.Max(totals); highest > r.PeakAfter {
			add(totals, before, 1)
			add(totals, after, -1)
			continue
		}
		r.PeakAfter = slices.Max(totals)
		p.From, p.Peak = f.at(at), r.PeakAfter
		r.Proposals = append(r.Proposals, p)
	}
}

// move returns what spreads the runs of a job, and the class that it would be in; nil
// if nothing does.
func (f *Forecast) move(j *scheduler.Job, before *class) (Proposal, *class) {
	if plan, text := hashed(j); plan != nil {
		patch := map[string]any{"recurrence": map[string]string{"cron": text, "dialect": string(spec.Dsari)}}
		if after := f.walked(plan, f.from, -1); after != before { // whose name chooses the full hour
			return proposal(j, ByHash, patch), after
		}
	}
	width := min(time.Duration(before.gap)*time.Minute/2, widest).Truncate(time.Minute)
	if width < 2*time.Minute || j.Plan == nil {
		return Proposal{}, nil
	}
	patch := map[string]any{"jitter": document.Duration{Exact: width}.String()}
	return proposal(j, ByJitter, patch), f.spread(j.Key, j.Plan, f.from, width, -1)
}

func proposal(j *scheduler.Job, way Way, properties map[string]any) Proposal {
	patch, err := json.Marshal(map[string]any{"properties": properties})
	if err != nil {
		panic(fmt.Sprintf("forecast: %v", err)) // it is made of texts
	}
	return Proposal{Job: j.Key.String(), Way: way, Patch: patch}
}

// onTheHour is a line of cron that names the full hour and no date, so that it means
// the same in both dialects.
var onTheHour = regexp.MustCompile(`^00? (\*|[0-9,-]+) \* \* \*$`)

// hashed returns the plan of a job whose name chooses the minute of its cron schedule,
// and that schedule; nil if its schedule is of another kind.
func hashed(j *scheduler.Job) (*spec.Plan, string) {
	recurrence := j.Def.Document()
	r, _ := recurrence.Member("recurrence")
	cron, _ := r.Member("cron")
	dialect, named := r.Member("dialect")
	text := strings.Join(strings.Fields(cron.Text()), " ")
	if !onTheHour.MatchString(text) || named && dialect.Text() != string(spec.Obsidian) {
		return nil, ""
	}
	text = "H" + text[strings.IndexByte(text, ' '):]
	rule, err := spec.ParseCron(text, spec.Dsari)
	if err != nil {
		return nil, ""
	}
	timing := j.Def.Timing
	changed := *timing.Recurrence
	changed.Rule = rule
	timing.Recurrence, timing.Name, timing.Seed = &changed, j.Key.Job, j.UID
	plan, err := spec.NewPlan(timing, j.Anchor)
	if err != nil {
		return nil, ""
	}
	return plan, text
}
