package index

import (
	"context"
	"sync"
	"time"
)

// An Item of a [Heap] knows when it is due and where in the heap it is.
type Item interface {
	// When is when it is due; 0 for never.
	When() int64
	// Place is its index+1, which belongs to the heap; 0 for not in it.
	Place() *int32
}

// A Heap has items by when they are due. The zero value is empty.
type Heap[T Item] struct{ items []T }

// Next is when the first is due, or 0.
func (h *Heap[T]) Next() int64 {
	if len(h.items) == 0 {
		return 0
	}
	return h.items[0].When()
}

// First returns the first if it is due by now.
func (h *Heap[T]) First(now int64) (item T, ok bool) {
	if len(h.items) == 0 || h.items[0].When() > now {
		return item, false
	}
	return h.items[0], true
}

// Fix restores the order after an item's time was set. It removes an item whose time is 0.
func (h *Heap[T]) Fix(item T) {
	at := int(*item.Place()) - 1
	switch {
	case item.When() == 0:
		if at >= 0 {
			h.remove(at)
		}
		return
	case at < 0:
		at = len(h.items)
		h.items = append(h.items, item)
		*item.Place() = int32(at + 1)
	}
	if !h.up(at) {
		h.down(at)
	}
}

func (h *Heap[T]) remove(at int) {
	last := len(h.items) - 1
	*h.items[at].Place() = 0
	moved := h.items[last]
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	if at == last {
		return
	}
	h.items[at] = moved
	*moved.Place() = int32(at + 1)
	if !h.up(at) {
		h.down(at)
	}
}

// up moves an item to the front as far as it belongs, and reports whether it has moved.
func (h *Heap[T]) up(at int) bool {
	item, start := h.items[at], at
	due := item.When()
	for at > 0 {
		parent := (at - 1) / 2
		if h.items[parent].When() <= due {
			break
		}
		h.items[at] = h.items[parent]
		*h.items[at].Place() = int32(at + 1)
		at = parent
	}
	h.items[at] = item
	*item.Place() = int32(at + 1)
	return at != start
}

func (h *Heap[T]) down(at int) {
	item := h.items[at]
	due := item.When()
	for {
		child := 2*at + 1
		if child >= len(h.items) {
			break
		}
		if child+1 < len(h.items) && h.items[child+1].When() < h.items[child].When() {
			child++
		}
		if h.items[child].When() >= due {
			break
		}
		h.items[at] = h.items[child]
		*h.items[at].Place() = int32(at + 1)
		at = child
	}
	h.items[at] = item
	*item.Place() = int32(at + 1)
}

// A Timetable schedules visits of entities.
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

// Set sets the time of an entity's next visit. The mutex is the innermost: the caller may hold the entity's.
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

// Duplicates are the ids that an entity has seen. All times are in milliseconds since 1970.
type Duplicates struct {
	// Window is for how long an id is remembered.
	Window time.Duration

	at    map[string]int64 // when the id was seen
	order []Sighting
}

// A Sighting is an id and when it was seen.
type Sighting struct {
	ID string
	At int64
}

// Sightings are all there are, the oldest first. They are not to be changed.
func (d *Duplicates) Sightings() []Sighting { return d.order }

// Known reports whether an id was seen within the window.
func (d *Duplicates) Known(id string, now int64) bool {
	at, ok := d.at[id]
	return ok && at+d.Window.Milliseconds() > now
}

// Remember adds an id.
func (d *Duplicates) Remember(id string, now int64) {
	if d.at == nil {
		d.at = map[string]int64{}
	}
	d.Forget(now)
	d.at[id] = now
	d.order = append(d.order, Sighting{id, now})
}

// Forget drops ids older than the window.
func (d *Duplicates) Forget(now int64) {
	limit := now - d.Window.Milliseconds()
	old := 0
	for old < len(d.order) && d.order[old].At <= limit {
		if s := d.order[old]; d.at[s.ID] == s.At {
			delete(d.at, s.ID)
		}
		old++
	}
	if d.order = d.order[old:]; len(d.order) == 0 {
		d.order = nil
	}
}

// lazy is how long ids are kept beyond the window when nothing else happens.
const lazy = 30 * time.Second

// Due is when to forget, at the latest; 0 for never.
func (d *Duplicates) Due() int64 {
	if len(d.order) == 0 {
		return 0
	}
	return d.order[0].At + (d.Window + lazy).Milliseconds()
}
