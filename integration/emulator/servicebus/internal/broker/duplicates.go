package broker

import "time"

// duplicates are the ids that an entity has seen.
type duplicates struct {
	window time.Duration
	at     map[string]int64 // when the id was seen
	order  []sighting
}

// A sighting is an id and when it was seen.
type sighting struct {
	id string
	at int64
}

// known reports whether an id was seen within the window.
func (d *duplicates) known(id string, now int64) bool {
	at, ok := d.at[id]
	return ok && at+d.window.Milliseconds() > now
}

// remember adds an id.
func (d *duplicates) remember(id string, now int64) {
	if d.at == nil {
		d.at = map[string]int64{}
	}
	d.forget(now)
	d.at[id] = now
	d.order = append(d.order, sighting{id, now})
}

// forget drops what was seen before the window.
func (d *duplicates) forget(now int64) {
	limit := now - d.window.Milliseconds()
	old := 0
	for old < len(d.order) && d.order[old].at <= limit {
		if s := d.order[old]; d.at[s.id] == s.at {
			delete(d.at, s.id)
		}
		old++
	}
	if d.order = d.order[old:]; len(d.order) == 0 {
		d.order = nil
	}
}

// lazy is how long ids are kept beyond the window when nothing else happens.
const lazy = 30 * time.Second

// due is when to forget, at the latest; 0 for never.
func (d *duplicates) due() int64 {
	if len(d.order) == 0 {
		return 0
	}
	return d.order[0].at + (d.window + lazy).Milliseconds()
}
