package scheduler

import "slices"

// mergedKept is the number of merged detached runs that are remembered in any case.
const mergedKept = 32

// Merge adds the counters q of the detached run b. It returns false if they were already merged.
func (p *Progress) Merge(q Progress, b *Baton) bool {
	if p.Counted(*b) {
		return false
	}
	p.Merged = append(slices.Clone(p.Merged), instantID(b.Nominal))
	if b.Resubmits != nil {
		p.Repeated = append(slices.Clone(p.Repeated), instantID(b.Resubmits.Nominal))
	}
	p.Executions += q.Executions
	p.Failures += q.Failures
	p.Errors += q.Errors
	p.ErrorFails += q.ErrorFails
	p.Faults += q.Faults
	if q.Last.After(p.Last) {
		p.Last = q.Last
	}
	return true
}

// mergedAsked is the number of merged detached runs that are asked for at a time, the oldest ones: in a herd, very many
// of them may still be stored. It is at least the number of runs that are merged with one write.
const mergedAsked = 8 * mergedKept

// asked returns the ids that are asked for.
func asked(ids []int64) []int64 { return ids[:min(mergedAsked, max(0, len(ids)-mergedKept))] }

// MergedSlots returns the slots of the merged detached runs of the job k that [Progress.ForgetMerged] may forget.
func (p *Progress) MergedSlots(k Key) (slots []BatonKey) {
	for _, id := range asked(p.Merged) {
		slots = append(slots, BatonKey{k, slotName(id)})
	}
	for _, id := range p.Repeated[:min(mergedAsked, len(p.Repeated))] {
		slots = append(slots, BatonKey{k, resubmittedPrefix + slotName(id)})
	}
	return slots
}

// ForgetMerged removes detached runs from Merged that cannot be merged again, because their batons are no longer stored.
// stored are the batons in [Progress.MergedSlots].
func (p *Progress) ForgetMerged(stored []Baton) {
	merged, repeated := map[int64]bool{}, map[int64]bool{}
	for _, b := range stored {
		merged[instantID(b.Nominal)] = true
		if b.Resubmits != nil {
			repeated[instantID(b.Resubmits.Nominal)] = true
		}
	}
	p.Merged, p.Repeated = forget(p.Merged, merged), forget(p.Repeated, repeated)
}

// forget returns the ids without those that were asked for and are not stored.
func forget(ids []int64, stored map[int64]bool) []int64 {
	old := asked(ids)
	fresh := ids[len(old):]
	return append(slices.DeleteFunc(slices.Clone(old), func(id int64) bool { return !stored[id] }), fresh...)
}

// withIDs returns ids and, after them, the others that ids does not have.
func withIDs(ids, others []int64) []int64 {
	for _, id := range others {
		if !slices.Contains(ids, id) {
			ids = append(slices.Clone(ids), id)
		}
	}
	return ids
}
