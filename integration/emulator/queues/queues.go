// Package queues is the console for the queues of the emulators. It shows entities, messages and rules, and
// sends, deletes and resubmits messages. It also works without a scheduler.
//
// # Guarantees
//
//  1. Viewing changes nothing that receivers see.
//  2. A large body is shown in part. A body is never rendered: downloads are binary attachments.
//  3. Control characters, and those that change the direction of text, are visible.
package queues

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// Path is where the section is.
const Path = frame.Root + "/queues"

// Config configures the console.
type Config struct {
	Bus     func() Bus     // the emulator that runs at the moment; nil: none
	Storage func() Storage // the emulator that runs at the moment; nil: none

	// Connect helps users without messages to connect a program.
	Connect Connect
}

// Connect describes how programs reach the emulators.
type Connect struct {
	Command      string        // that prints the connection strings
	Bus, Storage func() string // a connection string without secrets
}

//go:embed *.html
var templates embed.FS

//go:embed assets
var assets embed.FS

// A page is an HTML template of the console.
type page struct {
	set   frame.Set
	part  string // the name of the fragment that a request may ask for
	plain bool   // without the script
}

// of returns a page with the script. Requests may ask for the fragment part.
func of(name, part string) page {
	return page{set: frame.Templates(templates, "parts.html", name), part: part}
}

// plain returns a page without the script.
func plain(name string) page {
	return page{set: frame.Templates(templates, "parts.html", name), plain: true}
}

var (
	listPage         = of("list.html", "lists")
	entityPage       = of("entity.html", "messages")
	sessionsPage     = of("sessions.html", "sessions")
	messagePage      = of("message.html", "body")
	draftPage        = of("draft.html", "")
	confirmPage      = plain("confirm.html")
	rulesPage        = of("rules.html", "")
	rulePage         = of("rule.html", "")
	managePage       = plain("manage.html")
	operationPage    = plain("operation.html")
	storagePage      = of("storage.html", "messages")
	storeMessagePage = of("storemessage.html", "body")
	putPage          = of("put.html", "")
	newStorePage     = plain("newstore.html")
)

// show renders the page, or the requested fragment.
func (p page) show(c *frame.Request, status int, title string, data any) error {
	shown := &frame.Page{
		Status: status, Title: title, Template: p.set, Fragment: p.part, Data: data, Styles: []string{"queues/queues.css"},
	}
	if !p.plain {
		shown.Scripts = []string{"queues/queues.js"}
	}
	return c.Show(shown)
}

type section struct {
	bus     func() Bus
	storage func() Storage
	connect Connect

	operations operations
	changing   sync.Mutex // of settings and rules
}

// Section returns the part of the console.
func Section(cfg Config) frame.Section {
	r := &section{bus: cfg.Bus, storage: cfg.Storage, connect: cfg.Connect, operations: operations{of: map[string]*operation{}}}
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // it is embedded
	}
	read := func(path string, do func(*frame.Request) error) frame.Route {
		return frame.Route{Method: http.MethodGet, Path: Path + path, Right: auth.Read, Do: do}
	}
	lasting := func(r frame.Route) frame.Route {
		r.Live = true
		return r
	}
	live := func(path string, do func(*frame.Request) error) frame.Route { return lasting(read(path, do)) }
	change := func(path string, do func(*frame.Request) error) frame.Route {
		return frame.Route{Method: http.MethodPost, Path: Path + path, Right: auth.Operate, Do: do}
	}
	ask := func(path string, do func(*frame.Request) error) frame.Route { // the page of a change
		return frame.Route{Method: http.MethodGet, Path: Path + path, Right: auth.Operate, Do: do}
	}
	form := func(path string, show, do func(*frame.Request) error) []frame.Route { // create, change and delete
		return []frame.Route{
			{Method: http.MethodGet, Path: Path + path, Right: auth.Administer, Do: show},
			{Method: http.MethodPost, Path: Path + path, Right: auth.Administer, Do: do},
		}
	}
	routes := []frame.Route{read("", r.list), live("/events", r.followList)}
	if r.bus != nil {
		routes = append(
			routes,
			read("/entity", r.entity), live("/entity/events", r.followEntity), read("/message", asked(r.entityOf, r.message)),
			read("/body", asked(r.entityOf, r.download)),
			read("/rules", asked(r.entityOf, r.rules)),
			frame.Route{Method: http.MethodPost, Path: Path + "/rules", Right: auth.Read, Do: posted(r.entityOf, r.try)},
			ask("/send", asked(r.entityOf, r.newDraft)), change("/send", posted(r.entityOf, r.send)),
			ask("/resubmit", asked(r.entityOf, r.edit)), change("/resubmit", frame.WithForm(r.resubmit)),
			ask("/purge", asked(r.entityOf, r.confirmPurge)), change("/purge", frame.WithForm(r.purge)),
			change("/delete", posted(selection, r.remove)), change("/bury", posted(selection, r.deadLetter)),
			ask("/operation", asked(r.operationOf, r.operation)),
			lasting(ask("/operation/events", asked(r.operationOf, r.followOperation))),
			change("/operation/stop", posted(r.operationOf, r.stopOperation)),
			read("/sessions", r.sessions), live("/sessions/events", r.followSessions),
		)
		routes = slices.Concat(
			routes, form("/new", r.newEntity, frame.WithForm(r.create)),
			form("/change", asked(r.entityOf, r.changeEntity), frame.WithForm(r.update)),
			form("/drop", asked(r.entityOf, r.confirmDrop), posted(r.entityOf, r.drop)),
			form("/rule", asked(r.entityOf, r.editRule), posted(r.entityOf, r.putRule)),
			form("/rule/delete", asked(r.entityOf, r.confirmRule), frame.WithForm(r.deleteRule)),
		)
	}
	if r.storage != nil {
		routes = append(
			routes,
			read("/storage", r.store), live("/storage/events", r.followStore),
			read("/storage/message", asked(r.queueOf, r.storeMessage)), read("/storage/body", asked(r.queueOf, r.downloadStoreMessage)),
			ask("/storage/put", asked(r.queueOf, r.newPut)), change("/storage/put", posted(r.queueOf, r.put)),
			ask("/storage/clear", asked(r.queueOf, r.confirmClear)), change("/storage/clear", posted(r.queueOf, r.clear)),
			ask("/storage/delete", asked(r.queueOf, r.confirmRemove)), change("/storage/delete", posted(r.queueOf, r.removeStoreMessages)),
			ask("/storage/move", asked(r.queueOf, r.confirmMove)), change("/storage/move", posted(r.queueOf, r.moveStoreMessages)),
		)
		routes = slices.Concat(
			routes, form("/storage/new", r.newStore, frame.WithForm(r.createStore)),
			form("/storage/drop", asked(r.queueOf, r.confirmDropStore), frame.WithForm(r.dropStore)),
		)
	}
	return frame.Section{Name: "queues", Path: Path, Key: "q", Right: auth.Read, Routes: routes, Assets: files}
}

// Alone returns the section for a console without other sections: / redirects to it.
func Alone(cfg Config) frame.Section {
	alone := Section(cfg)
	alone.Routes = append(alone.Routes, frame.Route{
		Method: http.MethodGet, Path: "/{$}", Right: auth.Open, Do: func(c *frame.Request) error { return c.Redirect(Path) },
	})
	return alone
}

// A finder returns the entity, storage queue, message or operation that a request names.
type finder[T any] func(c *frame.Request, named func(parameter string) string) (T, error)

// asked passes the entity or queue of the query to a handler.
func asked[T any](find finder[T], do func(*frame.Request, T) error) func(*frame.Request) error {
	return func(c *frame.Request) error {
		found, err := find(c, c.Query)
		if err != nil {
			return err
		}
		return do(c, found)
	}
}

// posted passes a form, and its entity or queue, to a handler.
func posted[T any](find finder[T], do func(*frame.Request, url.Values, T) error) func(*frame.Request) error {
	return frame.WithForm(func(c *frame.Request, form url.Values) error {
		found, err := find(c, form.Get)
		if err != nil {
			return err
		}
		return do(c, form, found)
	})
}

// done reports the error of a change, or leads on to an address with a note.
func done(c *frame.Request, err error, note, to string) error {
	if err != nil {
		return problem(c, err)
	}
	return c.Done(note, to)
}

// problem describes an error of an emulator for people.
func problem(c *frame.Request, err error) error {
	switch {
	case err == nil:
		return nil
	case missing(err):
		return frame.Problem{Status: http.StatusNotFound, Text: c.Text("queues.missing"), Hint: c.Text("queues.missing.hint")}
	case browse.IsHeld(err):
		return frame.Problem{Status: http.StatusConflict, Text: c.Text("queues.held"), Hint: c.Text("queues.held.hint")}
	}
	if p, ok := errors.AsType[frame.Problem](err); ok {
		return p
	}
	return frame.Problem{Status: http.StatusUnprocessableEntity, Text: reason(err)}
}

// missing reports whether err means that an entity, queue or message does not exist.
func missing(err error) bool {
	return errors.Is(err, errMissing) || browse.IsMissing(err) ||
		errors.Is(err, storagequeue.ErrNoQueue) || errors.Is(err, storagequeue.ErrNoMessage)
}

var errMissing = errors.New("it is not there any more")

// reason returns the text of err for users.
func reason(err error) string { return cmp.Or(browse.Reason(err), err.Error()) }

// followEvery is the interval at which a live part looks for changes.
const followEvery = time.Second

// follow sends the changed parts of the page until the browser disconnects, or the entity no longer exists: the next request
// reports that.
func (p page) follow(c *frame.Request, look func() (data any, parts []string, err error)) error {
	l := c.Live()
	return l.Every(followEvery, func() error {
		data, parts, err := look()
		for _, part := range parts {
			if err == nil {
				err = l.Part(part, p.set, part, data)
			}
		}
		if err != nil {
			return frame.ErrOver
		}
		return nil
	})
}

// address is [frame.Address] for a path of the section.
func address(path string, pairs ...string) string { return frame.Address(Path+path, nil, pairs...) }

// Bus is a [browse.Namespace]. Tests replace single methods.
type Bus interface { //nolint:interfacebloat // all methods of a namespace
	Entities() []browse.Entity
	Entity(path string) (browse.Entity, error)
	Create(e browse.Entity) error
	Update(e browse.Entity) error
	Remove(path string) error
	Sessions(path, text string, most int) (found []browse.Session, more int, err error)

	Peek(q browse.Query) (browse.Page, error)
	Message(path string, part browse.Part, sequence int64) (browse.Message, error)
	Send(path string, d browse.Draft) error
	Delete(path string, part browse.Part, sequence int64) error
	DeadLetter(path string, sequence int64, reason, description string) error
	Purge(ctx context.Context, b browse.Batch) (browse.Tally, error)
	Resubmit(path string, part browse.Part, sequence int64, edited *browse.Draft, toTopic bool) error
	ResubmitAll(ctx context.Context, b browse.Batch) (browse.Tally, error)

	Rules(path string) ([]browse.Rule, error)
	PutRule(path string, r browse.Rule, replace bool) error
	DeleteRule(path, name string) error
	Try(path string, d browse.Draft) ([]browse.Trial, error)
	TryMessage(path, from string, part browse.Part, sequence int64) ([]browse.Trial, error)
}

// Storage is a [storagequeue.Server]. Tests replace single methods.
type Storage interface { //nolint:interfacebloat // all methods of a server for pages
	Accounts() []string
	Queues() []storagequeue.QueueStatus
	Queue(account, name string) (storagequeue.QueueStatus, error)
	Create(account, queue string) error
	Drop(account, queue string) error
	Clear(account, queue string) (int, error)

	Messages(account, queue string, from uint64, most int, text string) ([]storagequeue.Message, uint64, error)
	Message(account, queue, id string) (storagequeue.Message, error)
	Put(account, queue, text string, hidden, ttl time.Duration) error
	Delete(account, queue, id string) error
	Move(account, queue, id, to string) error
	MoveAll(account, queue, to string, most int) (int, error)
}
