package stats

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// AddGroups adds the failure groups of a process, except those without a failure in the last day. It reports whether it
// added any.
func (b *Board) AddGroups(all []Group) (added bool) {
	for i := range all {
		if b.Now.Sub(all[i].Last) < groupAge {
			b.Groups = append(b.Groups, all[i])
			added = true
		}
	}
	return added
}

// mergeGroups combines the groups of all processes that have the same cause. It omits the counts of a process from before
// the group was resolved, if another process has counted a failure since.
func (b *Board) mergeGroups() {
	same := func(x, y *Group) int {
		return cmp.Or(cmp.Compare(x.Target, y.Target), cmp.Compare(x.Class, y.Class), cmp.Compare(x.Type, y.Type),
			cmp.Compare(x.Collection, y.Collection))
	}
	slices.SortFunc(b.Groups, func(x, y Group) int { return cmp.Or(same(&x, &y), y.Last.Compare(x.Last)) })
	var merged []Group
	for rest := b.Groups; len(rest) > 0; {
		n := 1
		for n < len(rest) && same(&rest[0], &rest[n]) == 0 {
			n++
		}
		last := rest[0].Last
		one := Group{Target: rest[0].Target, Class: rest[0].Class, Type: rest[0].Type, Collection: rest[0].Collection}
		for i := range rest[:n] {
			one.Answered = scheduler.Later(one.Answered, rest[i].Answered)
		}
		for i := range rest[:n] {
			part := rest[i]
			if part.Answered = one.Answered; !part.ended(last) {
				one.merge(&part)
			}
		}
		merged, rest = append(merged, one), rest[n:]
	}
	b.Groups = slices.DeleteFunc(merged, func(g Group) bool { return g.First.IsZero() })
}

// merge adds the counts of another group.
func (g *Group) merge(other *Group) {
	g.Minutes = addMinutes(g.Minutes, g.Last, other.Minutes, other.Last)
	g.Last = scheduler.Later(g.Last, other.Last)
	g.Attempts += other.Attempts
	g.Faulted += other.Faulted
	g.Jobs = slices.Concat(g.Jobs, other.Jobs)
	slices.Sort(g.Jobs)
	g.Jobs = slices.Compact(g.Jobs)
	g.More = g.More || other.More
	if g.First.IsZero() || !other.First.IsZero() && other.First.Before(g.First) {
		g.First = other.First
	}
	if other.Example.At.After(g.Example.At) {
		g.Example = other.Example
	}
}

// addMinutes adds two series that end in the minutes of their times. The sum ends in the later one.
func addMinutes(a []uint64, atA time.Time, b []uint64, atB time.Time) []uint64 {
	end := scheduler.Later(atA, atB)
	sum := make([]uint64, minutesShown)
	for _, one := range []struct {
		minutes []uint64
		at      time.Time
	}{{a, atA}, {b, atB}} {
		past := end.Unix()/60 - one.at.Unix()/60
		for i, n := range one.minutes {
			if at := int64(minutesShown-len(one.minutes)+i) - past; at >= 0 && at < minutesShown {
				sum[at] += n
			}
		}
	}
	return sum
}

// FailureGroups returns the failure groups of the collections that the caller sees, without the acknowledgments. The
// group with the most failures in the last hour is first.
func (b *Board) FailureGroups(sees func(collection string) bool) []*v1.FailureGroup {
	by := map[string]*v1.FailureGroup{}
	for _, resolved := range []bool{false, true} {
		for i := range b.Groups {
			part := &b.Groups[i]
			id := groupID(part)
			switch g := by[id]; {
			case !sees(part.Collection) || part.ended(b.Now) != resolved:
				continue
			case g == nil:
				by[id] = &v1.FailureGroup{
					ID: id, Target: part.Target, Class: part.Class, ActionType: part.Type, First: part.First,
					Selection: &v1.FailureSelection{Jobs: []string{}},
				}
			case g.Resolved.IsZero() == resolved: // of a group that is resolved in some collections, the others count
				continue
			}
			b.add(by[id], part)
		}
	}
	all := make([]*v1.FailureGroup, 0, len(by))
	for _, g := range by {
		if g.AtLeast && g.Target != "" {
			g.Selection = &v1.FailureSelection{Target: g.Target, Action: g.ActionType}
		}
		b.addCircuit(g, sees)
		all = append(all, g)
	}
	slices.SortFunc(all, func(x, y *v1.FailureGroup) int {
		return cmp.Or(cmp.Compare(total(y.Minutes), total(x.Minutes)), y.Last.Compare(x.Last), cmp.Compare(x.ID, y.ID))
	})
	return all
}

// add adds the part of a group that is in one collection.
func (b *Board) add(g *v1.FailureGroup, part *Group) {
	g.Collections = append(g.Collections, part.Collection)
	g.Attempts += part.Attempts
	g.Faulted += part.Faulted
	g.Jobs += len(part.Jobs)
	g.AtLeast = g.AtLeast || part.More
	for _, job := range part.Jobs {
		g.Selection.Jobs = append(g.Selection.Jobs, scheduler.Key{Collection: part.Collection, Job: job}.String())
	}
	if part.First.Before(g.First) {
		g.First = part.First
	}
	if part.ended(b.Now) {
		g.Resolved = scheduler.Later(g.Resolved, part.Answered)
	}
	g.Last = scheduler.Later(g.Last, part.Last)
	if part.Example.At.After(g.Example.At) {
		g.Example = part.Example
	}
	g.Minutes = addMinutes(g.Minutes, b.Now, part.Minutes, part.Last)
}

// addCircuit adds the state of the circuit breaker of the target.
func (b *Board) addCircuit(g *v1.FailureGroup, sees func(collection string) bool) {
	for _, t := range b.Targets {
		if t.Name == g.Target && rank(t.State) > max(rank(TargetSlow), rank(g.Circuit)) && (t.Collection == "" || sees(t.Collection)) {
			g.Circuit, g.CircuitUntil = t.State, t.Until
		}
	}
}

// groupID returns the ID of the groups of a cause, which does not depend on the collection.
func groupID(g *Group) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{g.Target, g.Class, g.Type}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

func total(minutes []uint64) (sum uint64) {
	for _, n := range minutes {
		sum += n
	}
	return sum
}
