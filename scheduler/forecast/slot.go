package forecast

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Slot summarizes the planned runs of an interval, such as an hour in a calendar.
type Slot struct {
	From, To time.Time // To is the first instant after it

	Runs int
	Jobs int // that run in it

	// Some lists jobs of the slot in the order of their first run. It prefers jobs that run rarely, because frequent
	// ones are less informative.
	Some []SlotJob
}

// SlotJob is a job in a slot.
type SlotJob struct {
	Key   scheduler.Key
	First time.Time // the minute of its first run
	Runs  int

	rare int // how often it runs in all slots
}

// Slots returns the planned runs between consecutive instants, which must be ordered and on full minutes: one slot for
// each instant except the last. A slot names up to most jobs.
//
// If there are more jobs, those that run in most of the slots are named only in throughout, which covers the whole
// time. The slots still count them.
func (f *Forecast) Slots(at []time.Time, most int) (slots []Slot, throughout Slot) {
	s := slotting{Forecast: f, slots: make([]Slot, max(0, len(at)-1)), in: make([]int32, f.minutes), most: most}
	left := 0 // slots that are not over
	for i := range s.slots {
		s.slots[i] = Slot{From: at[i].UTC(), To: at[i+1].UTC()}
		if at[i+1].After(f.from) {
			left++
		}
		from, to := f.minute(at[i]), f.minute(at[i+1])
		for m := max(0, from); m < min(to, f.minutes); m++ {
			s.in[m] = int32(i + 1)
		}
	}
	s.often = max(slotsFew, left/2)
	if len(f.jobs) <= most {
		s.often = len(s.slots)
	}
	if len(at) > 0 {
		s.throughout.From, s.throughout.To = at[0].UTC(), at[len(at)-1].UTC()
	}
	for _, c := range f.classes {
		if len(c.jobs) > 0 {
			s.fill(c)
		}
	}
	for i := range s.slots {
		s.slots[i].sort()
	}
	s.throughout.sort()
	return s.slots, s.throughout
}

// slotsFew is in how many slots a job may run and still be named in each.
const slotsFew = 4

// slotting fills slots.
type slotting struct {
	*Forecast

	slots      []Slot
	throughout Slot
	in         []int32 // of each minute: the slot it is in, from 1
	most       int
	often      int // a job that runs in more slots is named in none
}

// share counts the runs of a class in a slot.
type share struct{ slot, minute, runs int }

// fill counts a class in the slots that it runs in.
func (s *slotting) fill(c *class) {
	var shares []share
	runs := 0
	for at := 0; at < len(c.entries); {
		one := share{slot: int(s.in[c.entries[at].minute]), minute: int(c.entries[at].minute)}
		for ; at < len(c.entries) && int(s.in[c.entries[at].minute]) == one.slot; at++ {
			one.runs += int(c.entries[at].runs)
		}
		if one.slot > 0 {
			shares = append(shares, one)
			runs += one.runs
		}
	}
	if len(shares) == 0 {
		return
	}
	first := s.first(c.jobs, s.most)
	if len(shares) > s.often {
		s.throughout.add(c, share{0, shares[0].minute, runs}, s.at(shares[0].minute), first, s.most)
		first = nil
	}
	for _, one := range shares {
		s.slots[one.slot-1].add(c, one, s.at(one.minute), first, s.most)
	}
}

// add counts the jobs of a class and names some of them.
func (s *Slot) add(c *class, of share, at time.Time, named []scheduler.Key, most int) {
	s.Jobs += len(c.jobs)
	s.Runs += of.runs * len(c.jobs)
	for _, k := range named {
		if !s.name(SlotJob{k, at, of.runs, c.runs}, most) {
			break // those after it are no rarer
		}
	}
}

// sort puts those that are named into the order in which they run.
func (s *Slot) sort() {
	slices.SortFunc(s.Some, func(a, b SlotJob) int {
		return cmp.Or(a.First.Compare(b.First), cmp.Compare(a.Key.String(), b.Key.String()))
	})
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

// first are the jobs, up to most, whose names come first.
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
