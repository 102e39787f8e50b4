package scheduler

// Packed is a stored job in the memory of a worker that holds its baton: as it lies
// in the store, which takes a tenth of what it takes when it is read.
type Packed struct {
	Revision uint64
	Target   string // of its action
	Data     []byte // as stored
}

// Packs reports whether a worker that holds b, which is not due, may forget the
// definition j that was read for it, and read it again for the attempt. Then only
// what j says can hinder b when it falls due, so that nothing is to be decided
// before b has a slot: it is the first of an attempt that is planned, by the
// revision that it was armed with. The schedule must be one that is compiled in no
// time.
func (b *Baton) Packs(j *Job) bool {
	return b.NeedsOpen() && !b.Deferred() && b.Gap.IsZero() && b.BelongsTo(j) && b.Revision == j.Revision && b.Schedule == j.ScheduleGen &&
		j.State == Enabled && j.plain() && j.Def.Overlap != OverlapAllow
}

// HeldBytes is [HeldBytes] of a baton whose definition is packed.
func (p *Packed) HeldBytes() int { return packedBytes + len(p.Data) }
