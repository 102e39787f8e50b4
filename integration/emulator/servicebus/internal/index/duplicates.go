package index

import "time"

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

// Forget drops what was seen before the window.
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
