package broker

// Snapshot makes a snapshot of the journal at once.
func (b *Broker) Snapshot() error { return b.snapshot() }

// Flush waits until all is written.
func (b *Broker) Flush() error { return b.log.Wait(b.log.Next()) }

// Replay takes a record as if it came from the journal, and puts everything in its place.
func (b *Broker) Replay(record []byte) error {
	r := newRestorer(b)
	for _, e := range b.all() {
		r.byID[e.id] = e
	}
	if err := r.Replay(1, record); err != nil {
		return err
	}
	for _, e := range b.all() {
		e.revive()
	}
	return nil
}

// Record returns the records that a broker with the entity would be restored from.
func (b *Broker) Record(path string) []byte {
	en := &entry{}
	e := b.entity(path)
	en.remain(e)
	en.sequence(e)
	for i := range e.queues {
		for _, m := range e.queues[i].shelf.All() {
			en.store(m)
			en.count(m)
		}
	}
	return en.buf
}
