package queues

import (
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// maxSessions is how many sessions a page shows; a search finds the others.
const maxSessions = 200

// sessionsView is what the page of sessions shows.
type sessionsView struct {
	Entity   browse.Entity
	Search   string
	Sessions []sessionRow
	More     int
	Events   string
}

// A sessionRow is a session in a list.
type sessionRow struct {
	browse.Session

	Preview string // of its state
	Link    string // to its messages
}

// Label is the id of the session.
func (s sessionRow) Label() string { return frame.Visible(s.ID) }

// noID is what an address has besides the id of a session, as one without an id is a session, too.
func noID(id string) string {
	if id == "" {
		return checked
	}
	return ""
}

// sessionOf is the session whose messages a request is about, nil for all.
func sessionOf(c *frame.Call) *string {
	id := c.Request.URL.Query().Get("session")
	if id == "" && c.Query("nosession") == "" {
		return nil
	}
	return &id
}

// Crumbs leads back from the sessions.
func (v *sessionsView) Crumbs() [][2]string { return crumbs(v.Entity) }

func (r *room) sessionsView(c *frame.Call) (*sessionsView, error) {
	e, err := r.entityOf(c)
	if err != nil {
		return nil, err
	}
	v := &sessionsView{Entity: e, Search: c.Query("q")}
	v.Events = address("/sessions/events", "follow", "1", "at", e.Path, "q", v.Search)
	found, more, err := r.bus().Sessions(e.Path, v.Search, maxSessions)
	if err != nil {
		return nil, problem(c, err)
	}
	v.More = more
	for _, s := range found {
		row := sessionRow{Session: s, Link: address("/entity", "at", e.Path, "session", s.ID, "nosession", noID(s.ID))}
		if s.StateSize > 0 {
			row.Preview = shortBytes([][]byte{s.State}, 160)
		}
		v.Sessions = append(v.Sessions, row)
	}
	return v, nil
}

// sessions shows those of an entity.
func (r *room) sessions(c *frame.Call) error {
	v, err := r.sessionsView(c)
	if err != nil {
		return err
	}
	p := &frame.Page{
		Title: c.Say("queues.sessions.title", titled(v.Entity.Path)), Template: sessionsPage, Data: v, Styles: styles, Scripts: scripts,
	}
	if c.Part() {
		p.Part = "sessions"
	}
	return c.Show(p)
}

// followSessions keeps the list up to date.
func (r *room) followSessions(c *frame.Call) error {
	return follow(c, func(l *frame.Live) error {
		v, err := r.sessionsView(c)
		if err != nil {
			return err
		}
		return l.Part("sessions", sessionsPage, "sessions", v)
	})
}
