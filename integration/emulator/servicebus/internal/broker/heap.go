package broker

// An item of a heap knows when it is due and where in the heap it is.
type item interface {
	comparable
	when() int64
	place() *int32 // index+1; 0 for not in the heap
}

// A heap has items by when they are due.
type heap[T item] struct{ items []T }

// next is when the first is due, or 0.
func (h *heap[T]) next() int64 {
	if len(h.items) == 0 {
		return 0
	}
	return h.items[0].when()
}

// first returns the first if it is due by now.
func (h *heap[T]) first(now int64) (item T, ok bool) {
	if len(h.items) == 0 || h.items[0].when() > now {
		return item, false
	}
	return h.items[0], true
}

// fix puts an item in its place after its time was set. An item whose time is 0 is taken out.
func (h *heap[T]) fix(item T) {
	at := int(*item.place()) - 1
	switch {
	case item.when() == 0:
		if at >= 0 {
			h.remove(at)
		}
		return
	case at < 0:
		at = len(h.items)
		h.items = append(h.items, item)
		*item.place() = int32(at + 1)
	}
	if !h.up(at) {
		h.down(at)
	}
}

func (h *heap[T]) remove(at int) {
	last := len(h.items) - 1
	*h.items[at].place() = 0
	moved := h.items[last]
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	if at == last {
		return
	}
	h.items[at] = moved
	*moved.place() = int32(at + 1)
	if !h.up(at) {
		h.down(at)
	}
}

// up moves an item to the front as far as it belongs, and reports whether it has moved.
func (h *heap[T]) up(at int) bool {
	item, start := h.items[at], at
	due := item.when()
	for at > 0 {
		parent := (at - 1) / 2
		if h.items[parent].when() <= due {
			break
		}
		h.items[at] = h.items[parent]
		*h.items[at].place() = int32(at + 1)
		at = parent
	}
	h.items[at] = item
	*item.place() = int32(at + 1)
	return at != start
}

func (h *heap[T]) down(at int) {
	item := h.items[at]
	due := item.when()
	for {
		child := 2*at + 1
		if child >= len(h.items) {
			break
		}
		if child+1 < len(h.items) && h.items[child+1].when() < h.items[child].when() {
			child++
		}
		if h.items[child].when() >= due {
			break
		}
		h.items[at] = h.items[child]
		*h.items[at].place() = int32(at + 1)
		at = child
	}
	h.items[at] = item
	*item.place() = int32(at + 1)
}
