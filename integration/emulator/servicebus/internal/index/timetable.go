package index

import (
	"context"
	"sync"
	"time"
)

// A Timetable says which entity has to be looked after when.
type Timetable[T any] struct {
	mu      sync.Mutex
	visits  Heap[*Visit[T]]
	changed chan struct{} // there is a new first visit
}

// A Visit is the next one at an entity. All but the entity belongs to the timetable.
type Visit[T any] struct {
	Entity T

	at    int64 // in milliseconds since 1970; 0 for none
	index int32
}

// When is when the visit is due; 0 for never.
func (v *Visit[T]) When() int64 { return v.at }

// Place is for the heap.
func (v *Visit[T]) Place() *int32 { return &v.index }

// NewTimetable returns a timetable without visits.
func NewTimetable[T any]() *Timetable[T] { return &Timetable[T]{changed: make(chan struct{}, 1)} }

// Set says when an entity is to be visited next. The mutex is the innermost: the caller may hold that of the entity.
func (t *Timetable[T]) Set(v *Visit[T], at int64) {
	t.mu.Lock()
	v.at = at
	t.visits.Fix(v)
	first := v.index == 1
	t.mu.Unlock()
	if first {
		select {
		case t.changed <- struct{}{}:
		default:
		}
	}
}

// take returns an entity that is due, or false and how long to wait for the next; below 0 for ever.
func (t *Timetable[T]) take(now int64) (entity T, ok bool, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, ok := t.visits.First(now)
	if !ok {
		if next := t.visits.Next(); next != 0 {
			return entity, false, time.Duration(next-now) * time.Millisecond
		}
		return entity, false, -1
	}
	v.at = 0
	t.visits.Fix(v)
	return v.Entity, true, 0
}

// Run visits entities when they are due until ctx ends.
func (t *Timetable[T]) Run(ctx context.Context, see func(entity T, now int64)) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		now := time.Now().UnixMilli()
		entity, ok, wait := t.take(now)
		if ok {
			see(entity, now)
			if ctx.Err() != nil {
				return
			}
			continue
		}
		timer.Stop()
		if wait >= 0 {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-t.changed:
		}
	}
}
