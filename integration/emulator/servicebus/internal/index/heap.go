package index

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

// Fix puts an item in its place after its time was set. An item whose time is 0 is taken out.
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
