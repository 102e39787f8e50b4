package queues

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// A setting is a field of the form of an entity.
type setting struct {
	Name  string
	Input string // text, number, check, status or entity
	of    string // the kinds of entities that have it
	fixed bool   // it cannot be changed
	read  func(e *browse.Entity, text string) error
	text  func(e browse.Entity) string
}

// settings are the fields, in the order of the form.
var settings = []setting{
	{
		Name: "status", Input: "status", of: "queue topic subscription",
		read: func(e *browse.Entity, text string) error { e.Status = browse.Status(text); return nil },
		text: func(e browse.Entity) string { return string(e.Status) },
	},
	span("lock", "queue subscription", func(e *browse.Entity) *time.Duration { return &e.LockDuration }),
	number64(
		"deliveries", "queue subscription",
		func(e *browse.Entity, n int64) { e.MaxDeliveryCount = int(n) }, func(e browse.Entity) int64 { return int64(e.MaxDeliveryCount) },
	),
	span("ttl", "queue topic subscription", func(e *browse.Entity) *time.Duration { return &e.DefaultTTL }),
	flag("sessions", "queue subscription", func(e *browse.Entity) *bool { return &e.RequiresSession }).once(),
	span("duplicates", "queue topic", func(e *browse.Entity) *time.Duration { return &e.DuplicateWindow }),
	flag("expired", "queue subscription", func(e *browse.Entity) *bool { return &e.DeadLetterOnExpiration }),
	flag("filter", "subscription", func(e *browse.Entity) *bool { return &e.DropOnFilterError }),
	other("forward", func(e *browse.Entity) *string { return &e.ForwardTo }),
	other("forwarddead", func(e *browse.Entity) *string { return &e.ForwardDeadLettersTo }),
	span("idle", "queue topic subscription", func(e *browse.Entity) *time.Duration { return &e.AutoDeleteOnIdle }),
	number64("quota", "queue topic", func(e *browse.Entity, n int64) { e.MaxSize = n << 20 }, func(e browse.Entity) int64 {
		return e.MaxSize >> 20
	}),
	{
		Name: "metadata", Input: "text", of: "queue topic subscription",
		read: func(e *browse.Entity, text string) error { e.UserMetadata = text; return nil },
		text: func(e browse.Entity) string { return e.UserMetadata },
	},
}

// once is a setting that only a new entity is given.
func (s setting) once() setting {
	s.fixed = true
	return s
}

func span(name, of string, at func(*browse.Entity) *time.Duration) setting {
	return setting{
		Name: name, Input: "text", of: of,
		read: func(e *browse.Entity, text string) (err error) {
			*at(e), err = parseSpan(text)
			return err
		},
		text: func(e browse.Entity) string { return spanText(*at(&e)) },
	}
}

func number64(name, of string, put func(*browse.Entity, int64), get func(browse.Entity) int64) setting {
	return setting{
		Name: name, Input: "number", of: of,
		read: func(e *browse.Entity, text string) error {
			if text == "" {
				put(e, 0)
				return nil
			}
			n, err := strconv.ParseInt(text, 10, 32)
			if err == nil && n < 0 {
				err = errSpan
			}
			put(e, n)
			return err
		},
		text: func(e browse.Entity) string {
			if n := get(e); n > 0 {
				return strconv.FormatInt(n, 10)
			}
			return ""
		},
	}
}

// checked is the form value of a set flag.
const checked = "1"

func flag(name, of string, at func(*browse.Entity) *bool) setting {
	return setting{
		Name: name, Input: "check", of: of,
		read: func(e *browse.Entity, text string) error { *at(e) = text != ""; return nil },
		text: func(e browse.Entity) string {
			if *at(&e) {
				return checked
			}
			return ""
		},
	}
}

// other is the name of another entity.
func other(name string, at func(*browse.Entity) *string) setting {
	return setting{
		Name: name, Input: "entity", of: "queue subscription",
		read: func(e *browse.Entity, text string) error { *at(e) = strings.TrimSpace(text); return nil },
		text: func(e browse.Entity) string { return *at(&e) },
	}
}

// settingsOf are the fields of an entity that is made, or changed.
func settingsOf(e browse.Entity, fresh bool) []setting {
	return slices.DeleteFunc(slices.Clone(settings), func(s setting) bool {
		duplicates := s.Name == "duplicates" && !fresh && e.DuplicateWindow == 0
		return !slices.Contains(strings.Fields(s.of), e.Kind) || s.fixed && !fresh || duplicates || s.Name == "status" && fresh
	})
}

// entityForm is the form of an entity.
type entityForm struct {
	Entity   browse.Entity
	Fresh    bool
	Settings []setting
	Values   map[string]string
	Was      string // the values that the form began with
	Wrong    map[string]string
	News     map[string]string // concurrent changes
	Others   []string          // entities to forward to
	Back     string
	Statuses []string
}

// Crumbs leads back from the form.
func (v entityForm) Crumbs() [][2]string {
	switch {
	case !v.Fresh:
		return crumbs(v.Entity)
	case v.Entity.Topic != "":
		return [][2]string{{address("/entity", "at", v.Entity.Topic), v.Entity.Topic}}
	}
	return nil
}

func (r *section) formOf(e browse.Entity, fresh bool) entityForm {
	v := entityForm{
		Entity: e, Fresh: fresh, Settings: settingsOf(e, fresh), Back: Path,
		Values: map[string]string{"name": e.Name}, Wrong: map[string]string{},
		Statuses: []string{"Active", "Disabled", "SendDisabled", "ReceiveDisabled"},
	}
	if !fresh {
		v.Back = address("/entity", "at", e.Path)
	} else if e.Topic != "" {
		v.Back = address("/entity", "at", e.Topic)
	}
	for _, s := range v.Settings {
		v.Values[s.Name] = s.text(e)
	}
	v.Was = v.begin()
	for _, o := range r.bus().Entities() {
		if o.Kind != browse.Subscription && o.Path != e.Path && len(v.Others) < maxListed {
			v.Others = append(v.Others, o.Path)
		}
	}
	return v
}

// blank returns a new entity of a kind with the service's defaults.
func blank(kind, topic string) browse.Entity {
	e := browse.Entity{Kind: kind, Topic: topic}
	if kind != browse.Topic {
		e.LockDuration, e.MaxDeliveryCount = time.Minute, 10
	}
	return e
}

// kindOf is the kind of a new entity that a request is about.
func (r *section) kindOf(c *frame.Request, kind, topic string) (browse.Entity, error) {
	switch {
	case kind == browse.Queue || kind == browse.Topic:
		return blank(kind, ""), nil
	case kind != browse.Subscription:
		return browse.Entity{}, frame.Problem{Status: http.StatusBadRequest, Text: c.Text("queues.kind.unknown", kind)}
	}
	e, err := r.at(c, topic)
	if err == nil && e.Kind != browse.Topic {
		err = frame.Problem{Status: http.StatusNotFound, Text: c.Text("queues.topic.missing", frame.Visible(topic))}
	}
	return blank(kind, e.Name), problem(c, err)
}

func showForm(c *frame.Request, v entityForm, status int) error {
	title := c.Text("queues.change.title", titled(v.Entity.Path))
	if v.Fresh {
		title = c.Text("queues.new.title." + v.Entity.Kind)
	}
	return managePage.show(c, status, title, v)
}

func (r *section) newEntity(c *frame.Request) error {
	e, err := r.kindOf(c, c.Query("kind"), c.Query("at"))
	if err != nil {
		return err
	}
	return showForm(c, r.formOf(e, true), http.StatusOK)
}

func (r *section) changeEntity(c *frame.Request, e browse.Entity) error {
	return showForm(c, r.formOf(e, false), http.StatusOK)
}

// fill reads a form into an entity. Problems are recorded in the form.
func (v entityForm) fill(c *frame.Request, form url.Values) browse.Entity {
	e := v.Entity
	for _, s := range v.Settings {
		text := form.Get(s.Name)
		v.Values[s.Name] = text
		if err := s.read(&e, text); err != nil {
			key := "queues.wrong.span"
			if s.Input == "number" {
				key = "queues.wrong.number"
			}
			v.Wrong[s.Name] = c.Text(key, text)
		}
	}
	if _, given := v.Values["duplicates"]; given && !v.Fresh && e.DuplicateWindow == 0 {
		v.Wrong["duplicates"] = c.Text("queues.wrong.window")
	}
	return e
}

func (r *section) create(c *frame.Request, form url.Values) error {
	e, err := r.kindOf(c, form.Get("kind"), form.Get("at"))
	if err != nil {
		return err
	}
	v := r.formOf(e, true)
	e = v.fill(c, form)
	e.Name = strings.TrimSpace(form.Get("name"))
	v.Values["name"], e.Path = e.Name, e.Name
	if e.Kind == browse.Subscription {
		e.Path = e.Topic + "/Subscriptions/" + e.Name
	}
	if e.Name == "" {
		v.Wrong["name"] = c.Text("queues.wrong.noname")
	}
	return saved(c, v, e, v.save(c, e, r.bus().Create), "queues.new.done")
}

func (r *section) update(c *frame.Request, form url.Values) error {
	v, changed, status, err := r.changed(c, form)
	if err != nil {
		return err
	}
	return saved(c, v, changed, status, "queues.change.done")
}

// changed applies the settings of a form to an entity, unless it has changed since the form was shown. It
// returns the status of the response. It does not hold the lock while the response is written.
func (r *section) changed(c *frame.Request, form url.Values) (v entityForm, e browse.Entity, status int, err error) {
	r.changing.Lock() // check and change atomically
	defer r.changing.Unlock()
	if e, err = r.at(c, form.Get("at")); err != nil {
		return v, e, 0, err
	}
	v = r.formOf(e, false)
	now := maps.Clone(v.Values)
	e = v.fill(c, form)
	if form.Has("was") && form.Get("was") != v.Was {
		if v.News = v.merge(c, form.Get("was"), now); len(v.News) > 0 {
			return v, e, http.StatusConflict, nil
		}
	}
	return v, e, v.save(c, e, r.bus().Update), nil
}

// begin encodes the current values, which the form returns.
func (v entityForm) begin() string {
	was := url.Values{}
	for _, s := range v.Settings {
		was.Set(s.Name, v.Values[s.Name])
	}
	return was.Encode()
}

// merge returns the concurrent changes since the form was shown, by name. The user's input stays; untouched
// fields get their current values.
func (v entityForm) merge(c *frame.Request, began string, now map[string]string) (news map[string]string) {
	was, err := url.ParseQuery(began)
	if err != nil {
		was = url.Values{}
	}
	news = map[string]string{}
	for _, s := range v.Settings {
		name := s.Name
		if now[name] == was.Get(name) {
			continue
		}
		typed := v.Values[name]
		switch {
		case typed == now[name]:
		case typed == was.Get(name):
			v.Values[name] = now[name]
			delete(v.Wrong, name)
			news[name] = c.Text("queues.changed.taken")
		default:
			news[name] = c.Text("queues.changed.now", s.shown(c, now[name]))
		}
	}
	return news
}

// shown is a value of the setting, for people.
func (s setting) shown(c *frame.Request, value string) string {
	switch {
	case s.Input == "status":
		return c.Text("queues.status." + value)
	case s.Input == "check" && value != "":
		return c.Text("queues.changed.set")
	case s.Input == "check":
		return c.Text("queues.changed.unset")
	case value == "":
		return c.Text("queues.changed.empty")
	}
	return frame.Visible(value)
}

// save carries out a form in which nothing is wrong, and returns the status of the answer.
func (v entityForm) save(c *frame.Request, e browse.Entity, do func(browse.Entity) error) (status int) {
	if len(v.Wrong) == 0 {
		err := do(e)
		if err == nil {
			return http.StatusOK
		}
		v.Wrong["form"] = c.Describe(problem(c, err)).Text
	}
	return http.StatusUnprocessableEntity
}

// saved leads on to an entity that was saved, or shows its form again.
func saved(c *frame.Request, v entityForm, e browse.Entity, status int, note string) error {
	if status != http.StatusOK {
		return showForm(c, v, status)
	}
	return c.Done(c.Text(note, e.Path), address("/entity", "at", e.Path))
}

func (r *section) confirmDrop(c *frame.Request, e browse.Entity) error {
	count := messages(e)
	hint := c.Text("queues.drop.hint")
	if e.Kind == browse.Topic && e.Subscriptions > 0 {
		for _, s := range r.subscriptions(e) {
			count += messages(s)
		}
		hint = many(c, "queues.drop.hint.topic", e.Subscriptions)
	}
	return confirmEntity(e).askDrop(c, many(c, "queues.drop."+e.Kind, count, e.Path), hint, "/drop", titled(e.Path))
}

// messages returns the number of messages in all parts of an entity.
func messages(e browse.Entity) int64 {
	return e.Active + e.Scheduled + e.DeadLetter + e.Transfer + e.TransferDeadLetter
}

// askDrop asks for confirmation before it deletes an entity or a storage queue.
func (v confirmation) askDrop(c *frame.Request, text, hint, path, name string) error {
	v.Text, v.Hint, v.Action, v.Button, v.Danger = text, hint, Path+path, c.Text("queues.drop.button"), true
	return v.ask(c, c.Text("queues.drop.title", name))
}

func (r *section) drop(c *frame.Request, _ url.Values, e browse.Entity) error {
	to := Path
	if e.Topic != "" {
		to = address("/entity", "at", e.Topic)
	}
	return done(c, r.bus().Remove(e.Path), c.Text("queues.drop.done", e.Path), to)
}
