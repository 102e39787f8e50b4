package scheduler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Followed is a job whose occurrences start another one.
type Followed struct {
	Path string // in the document
	Job  Key
}

// Follows returns the jobs that the trigger of the job k follows.
func (d *Definition) Follows(k Key) (all []Followed) {
	if d.Trigger == nil {
		return nil
	}
	for i := range d.Trigger.On {
		if u := d.Trigger.On[i].upstream(k); u != (Key{}) {
			all = append(all, Followed{d.listenerPath(i) + ".job", u})
		}
	}
	return all
}

// Elsewhere is a listener to something of another collection.
type Elsewhere struct {
	Path       string // in the document
	Collection string
}

// ListensElsewhere returns the listeners of the job k to events and jobs of other collections, without those that had
// includes.
func (d *Definition) ListensElsewhere(k Key, had Heard) (all []Elsewhere) {
	if d.Trigger == nil {
		return nil
	}
	for i := range d.Trigger.On {
		l := &d.Trigger.On[i]
		t, u := l.topic(k), l.upstream(k)
		switch {
		case t != (Topic{}) && t.Collection != k.Collection && !slices.Contains(had.Topics, t):
			all = append(all, Elsewhere{d.listenerPath(i) + ".subject", t.Collection})
		case u != (Key{}) && u.Collection != k.Collection && !slices.Contains(had.Jobs, u):
			all = append(all, Elsewhere{d.listenerPath(i) + ".job", u.Collection})
		}
	}
	return all
}

// listenerPath returns the path of a listener in the document.
func (d *Definition) listenerPath(i int) string {
	trigger, _ := d.properties.Member("trigger")
	on, _ := trigger.Member("on")
	path := fmt.Sprintf("trigger.on[%d]", i)
	if on.Kind() == document.KindObject {
		path = "trigger.on"
	}
	if d.at != "" {
		path = d.at + "." + path
	}
	return path
}

// CheckCycle refuses a definition of the job k that closes a cycle of jobs that start each other, unless the trigger
// sets maxDepth. upstream has the jobs that each other job follows. The error matches [ErrInvalid].
func (d *Definition) CheckCycle(k Key, upstream map[Key][]Key) error {
	if d.Trigger == nil || d.Trigger.MaxDepth > 0 {
		return nil
	}
	var problems document.Problems
	for _, f := range d.Follows(k) {
		cycle := pathTo(k, f.Job, upstream, map[Key]bool{})
		if cycle == nil {
			continue
		}
		names := []string{k.nameIn(k.Collection)}
		for _, one := range cycle {
			names = append(names, one.nameIn(k.Collection))
		}
		problems = append(problems, document.Problem{
			Path: f.Path, Message: "closes a cycle: " + strings.Join(names, " → ") + "; set trigger.maxDepth to allow it",
		})
	}
	if len(problems) == 0 {
		return nil
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
