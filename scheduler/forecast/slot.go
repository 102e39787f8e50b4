package forecast

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Slot is what is planned in a part of the time, as in an hour of a calendar.
type Slot struct {
	From, To time.Time // To is the first instant after it

	Runs int
	Jobs int // that run in it

	// Some are jobs of it: those that run least often, as what runs all the time tells little. They are in the order in
	// which they run first.
	Some []SlotJob
}

// SlotJob is a job in a slot.
type SlotJob struct {
	Key   scheduler.Key
	First time.Time // the minute of its first run
	Runs  int

	rare int // how often it runs in all slots
}

// Slots are what is planned between instants, which are in order and on full minutes: one for each but the last. most is how
// many jobs of each are named.
func (f *Forecast) Slots(at []time.Time, most int) []Slot {
	slots := make([]Slot, max(0, len(at)-1))
	in := make([]int32, f.minutes) // of each minute: the slot it is in, from 1
	for i := range slots {
		slots[i] = Slot{From: at[i].UTC(), To: at[i+1].UTC()}
		from, to := f.minute(at[i]), f.minute(at[i+1])
		for m := max(0, from); m < min(to, f.minutes); m++ {
			in[m] = int32(i + 1)
		}
	}
	for _, c := range f.classes {
		if len(c.jobs) > 0 {
			f.fill(slots, in, c, most)
		}
	}
	for i := range slots {
		slices.SortFunc(slots[i].Some, func(a, b SlotJob) int {
			return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.Key.String(), b.Key.String()))
		})
	}
	return slots
}

// fill counts a class in the slots that it runs in.
func (f *Forecast) fill(slots []Slot, in []int32, c *class, most int) {
	first := f.first(c.jobs, most)
	for at := 0; at < len(c.entries); {
		slot, begin, runs := in[c.entries[at].minute], int(c.entries[at].minute), 0
		for ; at < len(c.entries) && in[c.entries[at].minute] == slot; at++ {
			runs += int(c.entries[at].runs)
		}
		if slot == 0 {
			continue
		}
		s := &slots[slot-1]
		s.Jobs += len(c.jobs)
		s.Runs += runs * len(c.jobs)
		for _, k := range first {
			if !s.name(SlotJob{k, f.at(begin), runs, c.runs}, most) {
				break // those after it are no rarer
			}
		}
	}
}

// name takes a job among those that are named, unless there are enough that run as rarely.
func (s *Slot) name(j SlotJob, most int) bool {
	i, _ := slices.BinarySearchFunc(s.Some, j, func(a, b SlotJob) int {
		return cmp.Or(cmp.Compare(a.rare, b.rare), a.First.Compare(b.First), cmp.Compare(a.Key.String(), b.Key.String()))
	})
	if i >= most {
		return false
	}
	s.Some = slices.Insert(s.Some[:min(len(s.Some), most-1)], i, j)
	return true
}

// first are the jobs, at most most, whose names come first.
func (f *Forecast) first(jobs []int32, most int) []scheduler.Key {
	compare := func(a, b scheduler.Key) int { return cmp.Compare(a.String(), b.String()) }
	var first []scheduler.Key
	for _, at := range jobs {
		k := f.jobs[at].key
		if i, _ := slices.BinarySearchFunc(first, k, compare); i < most {
			first = slices.Insert(first[:min(len(first), most-1)], i, k)
		}
	}
	return first
}
