package jobs

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// past is the history of a job, as the engine records it.
type past struct {
	progress scheduler.Progress
	kind     scheduler.Kind
	last     map[scheduler.Outcome]*scheduler.Record
	sequence uint64
	states   []string // of the runs and skips, oldest first
}

func (p *past) record(o scheduler.Outcome, phase scheduler.Phase) {
	p.sequence++
	if p.last == nil {
		p.last = map[scheduler.Outcome]*scheduler.Record{}
	}
	p.last[o] = &scheduler.Record{Sequence: p.sequence, Outcome: o, Phase: phase, Kind: p.kind, Progress: p.progress}
}

// add adds what a letter stands for: c completed, r completed after a retry, f faulted, e faulted after its errorAction ran, s
// skipped, p postponed, and a failed attempt whose run goes on.
func (p *past) add(what rune) {
	if strings.ContainsRune("crfea", what) {
		p.progress.Number++
	}
	if strings.ContainsRune("rfea", what) {
		p.record(scheduler.OutcomeFailed, scheduler.MainPhase)
	}
	if what == 'e' {
		p.record(scheduler.OutcomeCompleted, scheduler.ErrorPhase)
	}
	o := map[rune]scheduler.Outcome{
		'c': "completed", 'r': "completed", 'f': "faulted", 'e': "faulted", 's': "skipped", 'p': "postponed", 'a': "failed",
	}[what]
	if o == scheduler.OutcomeFaulted {
		p.progress.Faults++
	}
	if p.states = append(p.states, string(o)); what != 'a' {
		p.record(o, scheduler.MainPhase)
	}
}

// strip returns the states that the last records show, oldest first.
func (p *past) strip() []string {
	v := &v1.Job{Job: &scheduler.Job{}, Status: v1.Status{Occurrences: p.progress.Number, Faults: p.progress.Faults}}
	var states []string
	for _, state := range slices.Backward(statesOf(v, slices.Collect(maps.Values(p.last)))) {
		states = append(states, string(state))
	}
	return states
}

// TestStrip tells of the last runs what the last record of each outcome proves: "-" is a run that completed or faulted.
func TestStrip(t *testing.T) {
	letters := map[string]string{"completed": "c", "faulted": "f", "failed": "a", "skipped": "s", "postponed": "p", "mixed": "-"}
	for history, want := range map[string]string{
		"":                         "",
		"a":                        "a",
		"c":                        "c",
		"ccc":                      "ccc",
		"fffff":                    "fffff",
		"eee":                      "fff",
		"rcr":                      "ccc",
		"ccccccccccccccccccc":      "cccccccccccc",
		"ccccfcc":                  "ccccfcc",
		"fcccccccccccccc":          "cccccccccccc",
		"ccfffff":                  "ccfffff",
		"ccffffa":                  "ccffffa",
		"cra":                      "cca",
		"ccsccspc":                 "ccccspc", // of each outcome, the last record is known
		"cfcfc":                    "---fc",
		"fcff":                     "fcff",
		"ccccccfcfcccccccccccccca": "ccccccccccca",
		"ece":                      "-" + "-f", // the last completed attempt is of an errorAction
	} {
		p := &past{}
		for _, what := range history {
			p.add(what)
		}
		var told []string
		for _, state := range p.strip() {
			told = append(told, letters[state])
		}
		if got := strings.Join(told, ""); got != want {
			t.Errorf("%s: %s, want %s", history, got, want)
		}
	}
}

// TestDetachedStrip has records of detached runs, whose numbers are their own: the job knows how many there were.
func TestDetachedStrip(t *testing.T) {
	for faults, want := range map[int]string{0: "completed completed completed", 1: "mixed mixed completed"} {
		p := &past{kind: scheduler.Triggered}
		p.add('c')
		p.progress = scheduler.Progress{Number: 3, Faults: faults}
		if got := strings.Join(p.strip(), " "); got != want {
			t.Errorf("%d faults: %s, want %s", faults, got, want)
		}
	}
}

// TestStripIsTrue compares the strips of random histories with what happened: a state that is told is the run's.
func TestStripIsTrue(t *testing.T) {
	random, known := rand.New(rand.NewPCG(1, 2)), 0
	for range 5000 {
		p, letters := &past{}, []string{"c", "ccccccf", "cf", "cccrfee", "ccccccs", "f"}[random.IntN(6)]
		for range random.IntN(30) {
			p.add(rune(letters[random.IntN(len(letters))]))
		}
		if random.IntN(4) == 0 {
			p.add('a')
		}
		skip := func(state string) bool { return state == "skipped" }
		got, want := slices.DeleteFunc(p.strip(), skip), slices.DeleteFunc(p.states, skip)
		want = want[max(0, len(want)-len(got)):]
		for i, state := range got {
			if state == "mixed" {
				want[i] = state
			} else {
				known++
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v: %s", p.states, diff)
		}
	}
	if known < 20_000 {
		t.Errorf("%d states are known", known)
	}
}

// TestStripText describes a strip for those who do not see it.
func TestStripText(t *testing.T) {
	p := &past{}
	for _, what := range "cfcfcs" {
		p.add(what)
	}
	v := &v1.Job{Job: &scheduler.Job{}}
	got := stripOf(v, slices.Collect(maps.Values(p.last)))
	want := &frame.Spark{Text: "The last 6 runs. 1 completed. 1 faulted. 3 completed or faulted. 1 skipped.", Paths: map[string]string{
		"bar-completed": "M50 16h4v-8h-4z", "bar-failed": "M45 16h4v-16h-4z",
		"bar-other": "M40 16h4v-5h-4zM35 16h4v-5h-4zM30 16h4v-5h-4zM55 16h4v-3h-4z",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if stripOf(v, nil) != nil {
		t.Error("a job that never ran has a strip")
	}
}
