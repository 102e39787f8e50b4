package queues

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// newest is the order of a list that begins with the last message.
const newest = "newest"

// perPage is the number of messages per page.
const perPage = 50

// entityView is the page of an entity.
type entityView struct {
	Entity    browse.Entity
	Topic     bool
	Tabs      []tab
	Part      browse.Part
	From      int64
	Search    string
	Page      browse.Page
	Rows      []row
	Facts     []fact
	Subs      []browse.Entity
	MayChange bool
	MayManage bool
	BySession bool // messages of one session alone
	Session   string
	Newest    bool // first
	Events    string
	First     bool // the first page without a search, which updates live
	Next      string
	Connect   Connect
}

// A tab is one of the lists of messages.
type tab struct {
	Part    browse.Part
	Count   int64
	Current bool
}

// A row is a message in a list.
type row struct {
	browse.Message

	Preview string
}

// A fact is a property of an entity in plain words.
type fact struct {
	Name, Text string
	Link       string // to another entity; "" for none
}

// entityOf returns the entity that a request is about.
func (r *section) entityOf(c *frame.Request, named func(string) string) (browse.Entity, error) {
	return r.at(c, named("at"))
}

// at returns the entity of a path.
func (r *section) at(c *frame.Request, path string) (browse.Entity, error) {
	e, err := r.bus().Entity(path)
	if missing(err) {
		return e, frame.Problem{
			Status: http.StatusNotFound,
			Text:   c.Text("queues.entity.missing", frame.Visible(path)), Hint: c.Text("queues.entity.missing.hint"),
		}
	}
	return e, problem(c, err)
}

// partOf is the part that a request is about.
func partOf(name string) browse.Part {
	switch p := browse.Part(name); p {
	case browse.Scheduled, browse.Deferred, browse.Dead, browse.Transfer:
		return p
	default:
		return browse.Active
	}
}

// partAsked is the part in the URL of a page.
func partAsked(c *frame.Request) browse.Part {
	return partOf(c.Choice("part", string(browse.Active), string(browse.Scheduled), string(browse.Deferred), string(browse.Dead),
		string(browse.Transfer)))
}

// view looks at an entity, and at a page of its messages. While the page is live, later pages are left alone, and
// searches are not repeated.
func (r *section) view(c *frame.Request, live bool) (*entityView, error) {
	e, err := r.entityOf(c, c.Query)
	if err != nil {
		return nil, err
	}
	v := &entityView{
		Entity: e, Topic: e.Kind == browse.Topic, Part: partAsked(c), Search: c.Query("q"), Facts: facts(c, e),
		MayChange: c.May(auth.Operate, ""), MayManage: c.May(auth.Administer, ""), Connect: r.connect,
		Newest: c.Choice("order", "oldest", newest) == newest,
	}
	session := sessionOf(c)
	if session != nil {
		v.BySession, v.Session = true, *session
	}
	if v.Topic {
		v.Part, v.Subs = browse.Scheduled, r.subscriptions(e)
	}
	v.From, _ = strconv.ParseInt(c.Query("from"), 10, 64)
	v.First = (v.From == 0 || v.From == 1 && !v.Newest) && v.Search == "" && session == nil
	v.Tabs = tabs(e, v.Part)
	v.Events = address("/entity/events", "follow", "1", "at", e.Path, "part", string(v.Part), "q", v.Search, "from", c.Query("from"),
		"session", v.Session, "nosession", c.Query("nosession"), "order", c.Query("order"))
	if live && !v.First {
		return v, nil
	}
	return v, r.peek(c, v)
}

// peek reads the requested messages.
func (r *section) peek(c *frame.Request, v *entityView) (err error) {
	q := browse.Query{
		Path: v.Entity.Path, Part: v.Part, From: v.From, Most: perPage, Text: v.Search, Session: sessionOf(c),
		Newest: v.Newest,
	}
	v.Page, err = r.bus().Peek(q)
	if err != nil {
		return problem(c, err)
	}
	if v.Page.Next != 0 && v.Search == "" && len(v.Page.Messages) > 0 { // later messages may be of another part
		q.From, q.Most = v.Page.Next, 1
		if behind, err := r.bus().Peek(q); err == nil && len(behind.Messages) == 0 {
			v.Page.Next = behind.Next
		}
	}
	for _, m := range v.Page.Messages {
		v.Rows = append(v.Rows, row{m, preview(m.Body)})
	}
	if v.Page.Next != 0 {
		v.Next = address("/entity", "at", v.Entity.Path, "part", string(v.Part), "q", v.Search,
			"from", strconv.FormatInt(v.Page.Next, 10), "session", v.Session, "nosession", c.Query("nosession"),
			"order", c.Query("order"))
	}
	return nil
}

// tabs are the parts of an entity with how much is in them.
func tabs(e browse.Entity, current browse.Part) []tab {
	all := []tab{
		{Part: browse.Active, Count: e.Waiting()},
		{Part: browse.Scheduled, Count: e.Scheduled},
		{Part: browse.Deferred, Count: e.Deferred},
		{Part: browse.Dead, Count: e.DeadLetter},
	}
	if e.TransferDeadLetter > 0 || current == browse.Transfer || e.ForwardTo != "" || e.ForwardDeadLettersTo != "" {
		all = append(all, tab{Part: browse.Transfer, Count: e.TransferDeadLetter})
	}
	if e.Kind == browse.Topic {
		all = []tab{{Part: browse.Scheduled, Count: e.Scheduled}}
	}
	for i := range all {
		all[i].Current = all[i].Part == current
	}
	return all
}

func (r *section) entity(c *frame.Request) error {
	v, err := r.view(c, false)
	if err != nil {
		return err
	}
	return entityPage.show(c, 0, titled(v.Entity.Path), v)
}

// followEntity updates the counts and the first messages.
func (r *section) followEntity(c *frame.Request) error {
	return entityPage.follow(c, func() (any, []string, error) {
		v, err := r.view(c, true)
		if err != nil || !v.First {
			return v, []string{"state", "tabs"}, err
		}
		return v, []string{"state", "tabs", "messages"}, nil
	})
}

// facts are the properties of an entity, in plain words.
func facts(c *frame.Request, e browse.Entity) []fact {
	var all []fact
	add := func(key string, args ...any) {
		all = append(all, fact{Name: c.Text("queues.fact." + key), Text: c.Text("queues.fact."+key+".text", args...)})
	}
	link := func(key, to string) {
		all = append(all, fact{Name: c.Text("queues.fact." + key), Text: to, Link: address("/entity", "at", to)})
	}
	choose := func(key string, yes bool) {
		if yes {
			add(key + ".yes")
			return
		}
		add(key + ".no")
	}
	if e.Kind == browse.Subscription {
		link("topic", e.Topic)
	}
	if e.Kind != browse.Topic {
		add("lock", length(e.LockDuration))
		add("deliveries", e.MaxDeliveryCount)
		choose("sessions", e.RequiresSession)
	}
	if e.DefaultTTL > 0 {
		add("ttl", length(e.DefaultTTL))
	} else {
		add("ttl.none")
	}
	if e.Kind != browse.Topic {
		choose("expired", e.DeadLetterOnExpiration)
	}
	switch {
	case e.Kind == browse.Subscription:
		choose("filter", e.DropOnFilterError)
	case e.DuplicateWindow > 0:
		add("duplicates", length(e.DuplicateWindow))
	default:
		add("duplicates.none")
	}
	if e.ForwardTo != "" {
		link("forward", e.ForwardTo)
	}
	if e.ForwardDeadLettersTo != "" {
		link("forwarddead", e.ForwardDeadLettersTo)
	}
	if e.AutoDeleteOnIdle > 0 {
		add("idle", length(e.AutoDeleteOnIdle))
	}
	if e.MaxMessageSize > 0 {
		add("largest", megabytes(e.MaxMessageSize))
	}
	if e.MaxSize > 0 {
		add("quota", megabytes(e.MaxSize))
	}
	if e.UserMetadata != "" {
		all = append(all, fact{Name: c.Text("queues.fact.metadata"), Text: frame.Visible(e.UserMetadata)})
	}
	return all
}

// megabytes is a size as the settings of an entity have it, whose megabytes are of 1,024 times 1,024 bytes.
func megabytes(n int64) string {
	if n%(1<<20) != 0 {
		return frame.Bytes(n)
	}
	return words.Number(n>>20) + " MB"
}

// preview is the beginning of a body for a list.
func preview(b browse.Body) string {
	const most = 160
	switch b.Kind {
	case "data":
		return shortBytes(b.Data, most)
	case "none":
		return ""
	default:
		return short(b.Text, most)
	}
}

func shortBytes(sections [][]byte, most int) string {
	beginning := joined(sections, 4*most)
	if strings.ContainsFunc(string(beginning), func(r rune) bool { return r == '\uFFFD' }) && !isText(beginning) {
		return fmt.Sprintf("% x", beginning[:min(len(beginning), 32)])
	}
	return short(string(beginning), most)
}

// maxSessions limits the sessions of a page; a search finds the others.
const maxSessions = 200

// sessionsView is the page of sessions.
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

// noID marks the empty session id in an address, because it is a valid session.
func noID(id string) string {
	if id == "" {
		return checked
	}
	return ""
}

// sessionOf is the session whose messages a request is about, nil for all.
func sessionOf(c *frame.Request) *string {
	id, none := c.Params("session").Get("session"), c.Query("nosession")
	if id == "" && none == "" {
		return nil
	}
	return &id
}

// Crumbs leads back from the sessions.
func (v *sessionsView) Crumbs() [][2]string { return crumbs(v.Entity) }

func (r *section) sessionsView(c *frame.Request) (*sessionsView, error) {
	e, err := r.entityOf(c, c.Query)
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

// sessions shows the sessions of an entity.
func (r *section) sessions(c *frame.Request) error {
	v, err := r.sessionsView(c)
	if err != nil {
		return err
	}
	return sessionsPage.show(c, 0, c.Text("queues.sessions.title", titled(v.Entity.Path)), v)
}

// followSessions updates the list.
func (r *section) followSessions(c *frame.Request) error {
	return sessionsPage.follow(c, func() (any, []string, error) {
		v, err := r.sessionsView(c)
		return v, []string{"sessions"}, err
	})
}
