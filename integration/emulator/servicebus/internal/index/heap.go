package index

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// An Item is an element of a [Heap].
type Item interface {
	// When is the sort key, such as the due time or the number; 0 removes the item from the heap.
	When() int64
	// Place is the index+1 in the heap, which the heap sets; 0 outside of it.
	Place() *int32
}

// A Heap sorts items by When. The zero value is empty.
type Heap[T Item] struct{ items items[T] }

// Next is the When of the first, or 0.
func (h *Heap[T]) Next() int64 {
	if len(h.items) == 0 {
		return 0
	}
	return h.items[0].When()
}

// Len is how many items there are.
func (h *Heap[T]) Len() int { return len(h.items) }

// Peek returns the first, or the zero value.
func (h *Heap[T]) Peek() (item T) {
	if len(h.items) > 0 {
		item = h.items[0]
	}
	return item
}

// First returns the first if it is due by now.
func (h *Heap[T]) First(now int64) (item T, ok bool) {
	if len(h.items) == 0 || h.items[0].When() > now {
		return item, false
	}
	return h.items[0], true
}

// Fix restores the order after a change of an item's When. It adds a new item, and removes one whose When is 0.
func (h *Heap[T]) Fix(item T) {
	at, due := int(*item.Place())-1, item.When() != 0
	switch {
	case at < 0 && due:
		heap.Push(&h.items, item)
	case at >= 0 && due:
		heap.Fix(&h.items, at)
	case at >= 0:
		heap.Remove(&h.items, at)
	}
}

// keptItems is how many items a heap that has become empty keeps room for.
const keptItems = 4096

// items are for package heap.
type items[T Item] []T

func (h items[T]) Len() int           { return len(h) }
func (h items[T]) Less(i, j int) bool { return h[i].When() < h[j].When() }

func (h items[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	*h[i].Place(), *h[j].Place() = int32(i+1), int32(j+1)
}

// Push appends an item.
func (h *items[T]) Push(item any) {
	*h = append(*h, item.(T))
	*item.(T).Place() = int32(len(*h))
}

// Pop removes the last item.
func (h *items[T]) Pop() any {
	last := len(*h) - 1
	item := (*h)[last]
	*item.Place() = 0
	clear((*h)[last:])
	if *h = (*h)[:last]; last == 0 && cap(*h) > keptItems {
		*h = nil
	}
	return item
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

// lazy limits the time for which ids outlive the window without activity.
const lazy = 30 * time.Second

// Due is when to forget, at the latest; 0 for never.
func (d *Duplicates) Due() int64 {
	if len(d.order) == 0 {
		return 0
	}
	return d.order[0].At + (d.Window + lazy).Milliseconds()
}
