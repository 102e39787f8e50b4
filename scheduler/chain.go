package scheduler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/expression"
)

// Link is a relation of a job to an event or to another job.
type Link struct {
	Path     string          // in the document
	Topic    Topic           // of the event that starts the job; zero: Job does, or is started
	Need     expression.Need // of the event
	Job      Key             // the other job
	Starts   bool            // the job starts Job, and not the other way round
	Asks     bool            // Job starts nothing: the condition of the job is about it
	Outcomes []Outcome       // of the job whose end starts the other one, or meets the condition
}

// Collection returns the collection of the event or of the other job.
func (l *Link) Collection() string { return l.Topic.Collection + l.Job.Collection } // one of them

// In reports whether links have one to the same event or job.
func (l *Link) In(links []Link) bool {
	return slices.ContainsFunc(links, func(o Link) bool {
		return l.Topic == o.Topic && l.Job == o.Job && l.Starts == o.Starts && l.Asks == o.Asks
	})
}

// Links returns the links of the job k: the listeners of its trigger, the jobs that it starts, and its condition.
func (d *Definition) Links(k Key) (all []Link) {
	if d.Trigger != nil {
		for i := range d.Trigger.On {
			l := &d.Trigger.On[i]
			link := Link{Path: d.listenerPath(i) + ".subject", Topic: l.topic(k), Need: l.Need}
			if l.Job != "" {
				link = Link{Path: d.listenerPath(i) + ".job", Job: l.upstream(k), Outcomes: l.Outcome}
			}
			all = append(all, link)
		}
	}
	add := func(field string, names []string, outcome Outcome) {
		for i, name := range names {
			path := d.path(fmt.Sprintf("%s[%d]", field, i))
			all = append(all, Link{Path: path, Job: k.jobNamed(name), Starts: true, Outcomes: []Outcome{outcome}})
		}
	}
	add("onSuccess", d.OnSuccess, OutcomeCompleted)
	add("onFailure", d.OnFailure, OutcomeFaulted)
	return append(all, d.Asks(k)...)
}

// starts returns the jobs that an occurrence of the job k starts when it is completed or faulted.
func (d *Definition) starts(k Key, o Outcome) (all []Key) {
	names := d.OnSuccess
	if o == OutcomeFaulted {
		names = d.OnFailure
	}
	for _, name := range names {
		all = append(all, k.jobNamed(name))
	}
	return all
}

// readStarts reads onSuccess or onFailure: the names of jobs.
func readStarts(o *document.Object, field string) []string {
	names, _ := o.Strings(field)
	if len(names) > maxListeners {
		o.Problem(field, "has %d jobs, at most %d are allowed", len(names), maxListeners)
	}
	for i, name := range names {
		if KeyIn("", name).Validate() != nil {
			o.Problem(fmt.Sprintf("%s[%d]", field, i), "%q is neither the name of a job nor collection/job", name)
		}
	}
	return names
}

func (d *Definition) listenerPath(i int) string {
	trigger, _ := d.Document().Member("trigger")
	on, _ := trigger.Member("on")
	path := fmt.Sprintf("trigger.on[%d]", i)
	if on.Kind() == document.KindObject {
		path = "trigger.on"
	}
	return d.path(path)
}

func (d *Definition) path(property string) string {
	if d.at != "" {
		return d.at + "." + property
	}
	return property
}

// CheckCycle refuses a definition of the job k that closes a cycle of jobs that start each other, unless the trigger
// sets maxDepth. upstream has the jobs that start each job, also by the definition. The error matches [ErrInvalid].
func (d *Definition) CheckCycle(k Key, upstream map[Key][]Key) error {
	if d.Trigger != nil && d.Trigger.MaxDepth > 0 {
		return nil
	}
	var problems document.Problems
	for _, l := range d.Links(k) {
		from, to := l.Job, k
		if l.Starts {
			from, to = k, l.Job
		}
		var cycle []Key
		if l.Job != (Key{}) && !l.Asks {
			cycle = pathTo(to, from, upstream, map[Key]bool{})
		}
		if cycle == nil {
			continue
		}
		names := []string{to.nameIn(k.Collection)}
		for _, one := range cycle {
			names = append(names, one.nameIn(k.Collection))
		}
		problems = append(problems, document.Problem{
			Path: l.Path, Message: "closes a cycle: " + strings.Join(names, " → ") + "; set trigger.maxDepth to allow it",
		})
	}
	return AsInvalid(problems)
}

// pathTo returns the jobs that the occurrences of k start one after the other until from starts k again: the last one
// is k. nil: from does not follow k.
func pathTo(k, from Key, upstream map[Key][]Key, seen map[Key]bool) []Key {
	if from == k {
		return []Key{k}
	}
	if seen[from] {
		return nil
	}
	seen[from] = true
	for _, u := range upstream[from] {
		if path := pathTo(k, u, upstream, seen); path != nil {
			return slices.Insert(path, len(path)-1, from)
		}
	}
	return nil
}

// nameIn returns the name by which jobs of a collection refer to k.
func (k Key) nameIn(collection string) string {
	if k.Collection == collection {
		return k.Job
	}
	return k.Plain().String()
}
