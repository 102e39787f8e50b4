package store

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
)

// rewrite replaces the file by the records of what there is now, if it has become too long.
func (s *Store) rewrite() {
	s.mu.Lock()
	if s.log.Size() < s.rewriteAt {
		s.mu.Unlock()
		return
	}
	snapshot, err := s.log.Snapshot()
	if err != nil { // another call is at it, or nothing can be written any more
		s.mu.Unlock()
		return
	}
	records := s.snapshot()
	s.mu.Unlock()

	if err := snapshot.Done(addAll(snapshot, records)); err != nil {
		s.cfg.Logger.Warn("rewriting the log did not succeed", "err", err)
	}
	s.mu.Lock()
	s.rewriteAt = max(s.cfg.RewriteAt, 2*s.log.Size())
	s.mu.Unlock()
}

func addAll(snapshot *wal.Snapshot, records []record) error {
	for i := range records {
		b, err := json.Marshal(&records[i])
		if err != nil {
			return err
		}
		if err := snapshot.Add(b); err != nil {
			return err
		}
	}
	return nil
}

// snapshot returns the records that lead to the present state. It is called with the lock held, so it copies and encodes nothing.
func (s *Store) snapshot() []record {
	var records []record
	for _, name := range slices.Sorted(maps.Keys(s.accounts)) {
		a := s.accounts[name]
		if a.properties != nil {
			records = append(records, record{Op: opProperties, Account: name, Properties: a.properties})
		}
		for _, queue := range slices.Sorted(maps.Keys(a.queues)) {
			q := a.queues[queue]
			records = append(records, record{Op: opQueue, Account: name, Queue: queue, Metadata: q.metadata})
			if q.policies != nil {
				records = append(records, record{Op: opPolicies, Account: name, Queue: queue, Policies: q.policies})
			}
			messages := slices.SortedFunc(maps.Values(q.messages), func(a, b *message) int {
				return cmp.Compare(a.arrival, b.arrival)
			})
			for _, m := range messages {
				records = append(records, record{Op: opPut, Account: name, Queue: queue, Message: &stored{
					ID: m.ID, Text: m.Text, Inserted: m.Inserted, Expires: m.Expires,
					Visible: m.NextVisible, Receipt: m.Receipt, Count: m.DequeueCount,
				}})
			}
		}
	}
	return records
}
