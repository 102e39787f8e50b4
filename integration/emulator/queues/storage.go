package queues

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// poisonSuffix is at the end of the names of queues to which, by the convention of Azure Functions, messages are moved that
// could not be worked on.
const poisonSuffix = "-poison"

func isPoison(name string) bool { return strings.HasSuffix(name, poisonSuffix) }

// related returns the existing queues that belong to one: where the messages of a poison queue come from, or its poison queue.
func (r *section) related(q storagequeue.QueueStatus) (origin, poison string) {
	name, ok := strings.CutSuffix(q.Name, poisonSuffix)
	if !ok {
		name += poisonSuffix
	}
	switch _, err := r.storage().Queue(q.Account, name); {
	case err != nil:
		return "", ""
	case ok:
		return name, ""
	}
	return "", name
}

// poisonAfter is the number of deliveries after which Azure Functions moves a message.
const poisonAfter = 5

// storeView is the page of a storage queue.
type storeView struct {
	Queue     storagequeue.QueueStatus
	Rows      []storeMessageRow
	From      uint64
	Search    string
	First     bool
	Next      string
	MayChange bool
	MayManage bool
	Events    string
	Poison    string // the queue for what failed, if there is one
	Origin    string // of a queue for what failed: where its messages come from
	Movable   bool   // there are other queues to move messages into
}

// A storeMessageRow is a message in a list.
type storeMessageRow struct {
	storagequeue.Message

	Preview string
	Hidden  bool
	Failing bool // it reached the delivery limit of Azure Functions
}

func rowOf(m storagequeue.Message) storeMessageRow {
	text := m.Text
	if b, ok := decoded(text); ok && isText(b) {
		text = string(b)
	}
	return storeMessageRow{m, short(text, 160), m.NextVisible.After(time.Now()), m.DequeueCount >= poisonAfter}
}

// queueOf returns the storage queue that a request is about.
func (r *section) queueOf(c *frame.Request, named func(string) string) (storagequeue.QueueStatus, error) {
	account, name := named("account"), named("queue")
	q, err := r.storage().Queue(account, name)
	if missing(err) {
		return q, frame.Problem{
			Status: http.StatusNotFound, Text: c.Text("queues.store.missing", frame.Visible(name), frame.Visible(account)),
			Hint: c.Text("queues.entity.missing.hint"),
		}
	}
	return q, problem(c, err)
}

// storeView looks at a storage queue, and at a page of its messages, as view does at an entity.
func (r *section) storeView(c *frame.Request, live bool) (*storeView, error) {
	q, err := r.queueOf(c, c.Query)
	if err != nil {
		return nil, err
	}
	v := &storeView{Queue: q, Search: c.Query("q"), MayChange: c.May(auth.Operate, ""), MayManage: c.May(auth.Administer, "")}
	v.From, _ = strconv.ParseUint(c.Query("from"), 10, 64)
	v.First = v.From == 0 && v.Search == ""
	v.Origin, v.Poison = r.related(q)
	v.Movable = len(r.beside(q)) > 0
	v.Events = address("/storage/events", "follow", "1", "account", q.Account, "queue", q.Name, "q", v.Search, "from", c.Query("from"))
	if live && !v.First {
		return v, nil
	}
	page, next, err := r.storage().Messages(q.Account, q.Name, v.From, perPage, v.Search)
	if err != nil {
		return nil, problem(c, err)
	}
	for _, m := range page {
		v.Rows = append(v.Rows, rowOf(m))
	}
	if next != 0 {
		v.Next = address("/storage", "account", q.Account, "queue", q.Name, "q", v.Search, "from", strconv.FormatUint(next, 10))
	}
	return v, nil
}

func (r *section) store(c *frame.Request) error {
	v, err := r.storeView(c, false)
	if err != nil {
		return err
	}
	return storagePage.show(c, 0, v.Queue.Name, v)
}

// followStore updates the counts and the first messages.
func (r *section) followStore(c *frame.Request) error {
	return storagePage.follow(c, func() (any, []string, error) {
		v, err := r.storeView(c, true)
		if err != nil || !v.First {
			return v, []string{"state"}, err
		}
		return v, []string{"state", "messages"}, nil
	})
}

// storeMessageView is the page of a storage queue's message.
type storeMessageView struct {
	Queue     storagequeue.QueueStatus
	Message   storeMessageRow
	Body      shownBody
	Origin    string
	MayChange bool
}

func (r *section) storeMessageOf(c *frame.Request, q storagequeue.QueueStatus) (storagequeue.Message, error) {
	m, err := r.storage().Message(q.Account, q.Name, c.Query("id"))
	return m, problem(c, err)
}

func (r *section) storeMessage(c *frame.Request, q storagequeue.QueueStatus) error {
	m, err := r.storeMessageOf(c, q)
	if err != nil {
		return err
	}
	v := storeMessageView{Queue: q, Message: rowOf(m), Body: showText(m.Text, c.Query("view")), MayChange: c.May(auth.Operate, "")}
	v.Origin, _ = r.related(q)
	return storeMessagePage.show(c, 0, c.Text("queues.storemessage.title", q.Name), v)
}

// showText shows a text. A view can show its decoded base64: base64 itself, or another view prefixed by "64-".
func showText(text, view string) shownBody {
	inner, encodes := decoded(text)
	encodes = encodes && (isText(inner) || view == asBase64)
	if view == "" && encodes {
		view = asBase64
	}
	if view == asBase64 && encodes {
		s := showData([][]byte{inner}, int64(len(inner)), "")
		s.View, s.Views, s.Kind = asBase64, []string{asBase64, asText, asHex}, "data"
		return s
	}
	s := showData([][]byte{[]byte(text)}, int64(len(text)), view)
	s.Kind = "data"
	if encodes {
		s.Views = append([]string{asBase64}, s.Views...)
	}
	return s
}

func (r *section) downloadStoreMessage(c *frame.Request, q storagequeue.QueueStatus) error {
	m, err := r.storeMessageOf(c, q)
	if err != nil {
		return err
	}
	return attach(c, "message.bin", strings.NewReader(m.Text), int64(len(m.Text)))
}

// putView is the form of a storage queue's message.
type putView struct {
	Queue       storagequeue.QueueStatus
	Text        string
	Encode      bool
	Hidden, TTL string
	Wrong       map[string]string
}

func (r *section) newPut(c *frame.Request, q storagequeue.QueueStatus) error {
	return showPut(c, putView{Queue: q, Encode: true, TTL: "7d"}, http.StatusOK)
}

// maxHidden is for how long the service hides a message.
const maxHidden = 7 * 24 * time.Hour

func showPut(c *frame.Request, v putView, status int) error {
	return putPage.show(c, status, c.Text("queues.put.title", v.Queue.Name), v)
}

func (r *section) put(c *frame.Request, form url.Values, q storagequeue.QueueStatus) error {
	v := putView{
		Queue: q, Text: lines(form.Get("text")), Encode: form.Get("encode") != "", Hidden: form.Get("hidden"), TTL: form.Get("ttl"),
		Wrong: map[string]string{},
	}
	hidden, err := parseSpan(v.Hidden)
	if err != nil {
		v.Wrong["hidden"] = c.Text("queues.wrong.ttl", v.Hidden)
	}
	ttl, err := parseSpan(v.TTL)
	if err != nil {
		v.Wrong["ttl"] = c.Text("queues.wrong.ttl", v.TTL)
	}
	if hidden > maxHidden {
		v.Wrong["hidden"] = c.Text("queues.wrong.hidden.long", length(maxHidden))
	}
	if ttl > 0 && hidden >= ttl {
		v.Wrong["hidden"] = c.Text("queues.wrong.hidden")
	}
	if len(v.Wrong) == 0 {
		text := v.Text
		if v.Encode {
			text = encoded(text)
		}
		err := r.storage().Put(q.Account, q.Name, text, hidden, ttl)
		switch {
		case err == nil:
			return c.Done(c.Text("queues.sent", q.Name), storeAddress(q))
		case missing(err):
			return problem(c, err)
		}
		v.Wrong["text"] = err.Error()
	}
	return showPut(c, v, http.StatusUnprocessableEntity)
}

func storeAddress(q storagequeue.QueueStatus) string {
	return address("/storage", "account", q.Account, "queue", q.Name)
}

func (r *section) confirmClear(c *frame.Request, q storagequeue.QueueStatus) error {
	v := confirmQueue(q)
	v.Text, v.Hint, v.Action = many(c, "queues.clear", q.Messages, q.Name), c.Text("queues.clear.hint"), Path+"/storage/clear"
	v.Button, v.Danger, v.Count = many(c, "queues.purge.button", q.Messages), true, int64(q.Messages)
	if q.Messages == 0 {
		v.Text = c.Text("queues.move.none", q.Name)
	}
	return v.ask(c, c.Text("queues.purge.title", q.Name))
}

func (r *section) clear(c *frame.Request, _ url.Values, q storagequeue.QueueStatus) error {
	n, err := r.storage().Clear(q.Account, q.Name)
	return done(c, err, many(c, "queues.purged", n), storeAddress(q))
}

// storeForm is the form of a new storage queue.
type storeForm struct {
	Accounts      []string
	Account, Name string
	Wrong         string
}

func showStoreForm(c *frame.Request, v storeForm, status int) error {
	return newStorePage.show(c, status, c.Text("queues.new.title.storage"), v)
}

func (r *section) newStore(c *frame.Request) error {
	return showStoreForm(c, storeForm{Accounts: r.storage().Accounts()}, http.StatusOK)
}

func (r *section) createStore(c *frame.Request, form url.Values) error {
	v := storeForm{Accounts: r.storage().Accounts(), Account: form.Get("account"), Name: strings.TrimSpace(form.Get("name"))}
	if err := r.storage().Create(v.Account, v.Name); err != nil {
		v.Wrong = c.Describe(problem(c, err)).Text
		return showStoreForm(c, v, http.StatusUnprocessableEntity)
	}
	return c.Done(c.Text("queues.new.done", v.Name), storeAddress(storagequeue.QueueStatus{Account: v.Account, Name: v.Name}))
}

func (r *section) confirmDropStore(c *frame.Request, q storagequeue.QueueStatus) error {
	text := many(c, "queues.drop.queue", q.Messages, q.Name)
	return confirmQueue(q).askDrop(c, text, c.Text("queues.drop.hint"), "/storage/drop", q.Name)
}

func (r *section) dropStore(c *frame.Request, form url.Values) error {
	name := form.Get("queue")
	return done(c, r.storage().Drop(form.Get("account"), name), c.Text("queues.drop.done", name), Path)
}
