package stats

import (
	"encoding/binary"
	"errors"
)

// The format of a period: this byte; then, for each step with activity, its number, the counts in the order of
// [Minute.counts], and the number of lateness buckets; for each bucket its distance from the previous one and its
// count. All are unsigned varints.
const form = 1

var errForm = errors.New("stats: not the form of an hour or a day")

// encode encodes the period.
func (c *counted) encode() []byte {
	data := []byte{form}
	for i := range c.steps {
		m := &c.steps[i]
		if m.empty() {
			continue
		}
		data = binary.AppendUvarint(data, uint64(i))
		data = m.append(data)
	}
	return data
}

func (m *Minute) append(data []byte) []byte {
	for _, n := range m.counts() {
		data = binary.AppendUvarint(data, *n)
	}
	used := 0
	for _, n := range m.Lateness {
		if n > 0 {
			used++
		}
	}
	data = binary.AppendUvarint(data, uint64(used))
	last := 0
	for i, n := range m.Lateness {
		if n > 0 {
			data = binary.AppendUvarint(data, uint64(i-last))
			data = binary.AppendUvarint(data, uint64(n))
			last = i
		}
	}
	return data
}

// decode calls f for each step of a period. f must not retain the minute.
func decode(data []byte, f func(number int, m *Minute)) error {
	if len(data) == 0 || data[0] != form {
		return errForm
	}
	r := reader{data: data[1:]}
	m := &Minute{}
	for len(r.data) > 0 {
		number := r.next(59)
		*m = Minute{}
		for _, n := range m.counts() {
			*n = r.next(1 << 48)
		}
		at := uint64(0)
		for range r.next(buckets) {
			at += r.next(buckets)
			n := r.next(1<<32 - 1)
			if at >= buckets || r.bad {
				return errForm
			}
			m.Lateness[at] = uint32(n)
		}
		if r.bad {
			return errForm
		}
		f(int(number), m)
	}
	return nil
}

// reader reads numbers until the first invalid one.
type reader struct {
	data []byte
	bad  bool
}

// next returns the next number, or 0 if it exceeds most or the data has ended.
func (r *reader) next(most uint64) uint64 {
	n, width := binary.Uvarint(r.data)
	if width <= 0 || n > most {
		r.data, r.bad = nil, true
		return 0
	}
	r.data = r.data[width:]
	return n
}
