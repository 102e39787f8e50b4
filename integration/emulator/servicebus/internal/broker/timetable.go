package broker

import (
	"context"
	"sync"
	"time"
)

// A timetable says which entity has to be looked after when. The zero value is ready to use.
type timetable struct {
	mu      sync.Mutex
	visits  heap[*visit]
	changed chan struct{} // there is a new first visit
}

// A visit is the next one at an entity. Its fields belong to the timetable.
type visit struct {
	entity *entity
	at     int64 // in milliseconds since 1970; 0 for none
	index  int32
}

func (v *visit) when() int64   { return v.at }
func (v *visit) place() *int32 { return &v.index }

func newTimetable() *timetable { return &timetable{changed: make(chan struct{}, 1)} }

// set says when an entity is to be visited next. The mutex is the innermost: the caller may hold that of the entity.
func (t *timetable) set(v *visit, at int64) {
	t.mu.Lock()
	v.at = at
	t.visits.fix(v)
	first := v.index == 1
	t.mu.Unlock()
	if first {
		select {
		case t.changed <- struct{}{}:
		default:
		}
	}
}

// take returns an entity that is due, or nil and how long to wait for the next; below 0 for ever.
func (t *timetable) take(now int64) (*entity, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	v, ok := t.visits.first(now)
	if !ok {
		if next := t.visits.next(); next != 0 {
			return nil, time.Duration(next-now) * time.Millisecond
		}
		return nil, -1
	}
	v.at = 0
	t.visits.fix(v)
	return v.entity, 0
}

// run visits entities when they are due until ctx ends.
func (t *timetable) run(ctx context.Context, see func(e *entity, now int64)) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		now := time.Now().UnixMilli()
		e, wait := t.take(now)
		if e != nil {
			see(e, now)
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
