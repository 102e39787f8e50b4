package queues

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// messageView is the page of a message.
type messageView struct {
	Entity    browse.Entity
	Message   browse.Message
	Body      shownBody
	System    []systemProperty
	IsDead    bool
	MayBury   bool
	MayChange bool
	Next      string // the address of the message behind it
	Previous  string
	At, Part  string
	Testable  []browse.Entity // subscriptions whose rules can be tested
	Copy      string          // where a message like it is sent; "" when no form can hold it
}

// A systemProperty is one of those that the service or the sender's library writes.
type systemProperty struct {
	Name, Value, Meaning string
	At                   time.Time // instead of Value
}

// number reads the sequence number that a request is about.
func number(c *frame.Request, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, frame.Problem{Status: http.StatusBadRequest, Text: c.Text("queues.number", text)}
	}
	return n, nil
}

// messageOf returns the message of an entity that a request is about.
func (r *section) messageOf(c *frame.Request, path string) (browse.Message, error) {
	n, err := number(c, c.Query("n"))
	if err != nil {
		return browse.Message{}, err
	}
	m, err := r.bus().Message(path, partAsked(c), n)
	return m, problem(c, err)
}

func (r *section) message(c *frame.Request, e browse.Entity) error {
	m, err := r.messageOf(c, e.Path)
	if err != nil {
		return err
	}
	v := messageView{
		Entity: e, Message: m, Body: showBody(m.Body, c.Query("view")), System: system(c, m), At: e.Path, Part: string(m.Part),
		IsDead: m.Part == browse.Dead || m.Part == browse.Transfer, MayChange: c.May(auth.Operate, ""),
	}
	v.MayBury = v.MayChange && (m.Part == browse.Active || m.Part == browse.Deferred) && !m.Held
	beside := func(q browse.Query) string {
		q.Path, q.Part, q.Most = e.Path, m.Part, 1
		if page, err := r.bus().Peek(q); err == nil && len(page.Messages) > 0 {
			return messageAddress(e.Path, m.Part, page.Messages[0].Sequence)
		}
		return ""
	}
	v.Next = beside(browse.Query{From: m.Sequence + 1})
	if m.Sequence > 1 {
		v.Previous = beside(browse.Query{From: m.Sequence - 1, Newest: true})
	}
	if e.Kind != browse.Queue {
		v.Testable = []browse.Entity{e}
	}
	if to := cmp.Or(e.Topic, e.Path); v.MayChange && copyable(m) {
		v.Copy = address("/send", "at", to, "from", e.Path, "part", v.Part, "n", strconv.FormatInt(m.Sequence, 10))
	}
	return messagePage.show(c, 0, c.Text("queues.message.title", m.Sequence, titled(e.Path)), v)
}

func messageAddress(path string, part browse.Part, sequence int64) string {
	return address("/message", "at", path, "part", string(part), "n", strconv.FormatInt(sequence, 10))
}

// system returns the system properties of a message, with explanations.
func system(c *frame.Request, m browse.Message) []systemProperty {
	var all []systemProperty
	add := func(key, value string, when time.Time) {
		name := "queues.system." + key
		all = append(all, systemProperty{Name: c.Text(name), Value: frame.Visible(value), At: when, Meaning: c.Text(name + ".text")})
	}
	text := func(key, value string) {
		if value != "" {
			add(key, value, time.Time{})
		}
	}
	at := func(key string, when time.Time) {
		if !when.IsZero() {
			add(key, "", when)
		}
	}
	text("messageid", m.MessageID)
	if m.HasSession && m.SessionID == "" {
		text("sessionid", "\"\"")
	}
	text("sessionid", m.SessionID)
	text("correlationid", m.CorrelationID)
	text("subject", m.Subject)
	text("contenttype", m.ContentType)
	text("contentencoding", m.ContentEncoding)
	text("to", m.To)
	text("replyto", m.ReplyTo)
	text("replytosession", m.ReplyToSessionID)
	text("partitionkey", m.PartitionKey)
	text("userid", string(m.UserID))
	text("sequence", strconv.FormatInt(m.Sequence, 10))
	if m.EnqueuedSequence != m.Sequence {
		text("enqueuedsequence", strconv.FormatInt(m.EnqueuedSequence, 10))
	}
	at("enqueued", m.Enqueued)
	at("due", m.Due)
	if m.TTL > 0 {
		text("ttl", length(m.TTL))
	}
	at("expires", m.Expires)
	text("deliveries", strconv.Itoa(m.Deliveries))
	at("lockeduntil", m.LockedUntil)
	at("created", m.Creation)
	at("absolute", m.AbsoluteExpiry)
	text("source", m.Source)
	if m.Priority != 4 {
		text("priority", strconv.Itoa(m.Priority))
	}
	return all
}

// download sends the unchanged body as an attachment, which browsers never display.
func (r *section) download(c *frame.Request, e browse.Entity) error {
	m, err := r.messageOf(c, e.Path)
	if err != nil {
		return err
	}
	body, size := reader(m.Body)
	return attach(c, fmt.Sprintf("message-%d.bin", m.Sequence), body, size)
}

// attach answers with a file.
func attach(c *frame.Request, name string, body io.Reader, size int64) error {
	h := c.Writer.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	c.Writer.WriteHeader(http.StatusOK)
	_, _ = io.Copy(c.Writer, body)
	return nil
}

// selected is the message that a form is about.
type selected struct {
	path string
	part browse.Part
	n    int64
}

func selection(c *frame.Request, named func(string) string) (selected, error) {
	n, err := number(c, named("n"))
	return selected{named("at"), partOf(named("part")), n}, err
}

// remove deletes one message.
func (r *section) remove(c *frame.Request, _ url.Values, s selected) error {
	err := r.bus().Delete(s.path, s.part, s.n)
	return done(c, err, c.Text("queues.deleted", s.n), address("/entity", "at", s.path, "part", string(s.part)))
}

// maxReason limits the reason of a dead letter and its description.
const maxReason = 4096

// deadLetter makes a dead letter of one message.
func (r *section) deadLetter(c *frame.Request, form url.Values, s selected) error {
	reason, description := strings.TrimSpace(form.Get("reason")), strings.TrimSpace(form.Get("description"))
	if len(reason) > maxReason || len(description) > maxReason {
		return frame.Problem{Status: http.StatusUnprocessableEntity, Text: c.Text("queues.bury.long", maxReason)}
	}
	err := r.bus().DeadLetter(s.path, s.n, reason, description)
	return done(c, err, c.Text("queues.buried", s.n), address("/entity", "at", s.path, "part", string(browse.Dead)))
}

func (r *section) purge(c *frame.Request, form url.Values) error {
	marked, err := picked(c, form["n"])
	if err != nil {
		return err
	}
	return r.start(c, verbPurge, browse.Batch{Path: form.Get("at"), Part: partOf(form.Get("part")), Only: marked}, r.bus().Purge)
}

// edit shows a dead letter for editing and resubmission, or asks for confirmation for all or the selected ones.
func (r *section) edit(c *frame.Request, e browse.Entity) error {
	if c.Query("n") == "" || c.Query("marked") != "" {
		return r.confirm(c, e, verbResubmit)
	}
	m, err := r.messageOf(c, e.Path)
	if err != nil {
		return err
	}
	v := draftOf(e, m)
	v.Back = messageAddress(e.Path, m.Part, m.Sequence)
	return draftPage.show(c, 0, c.Text("queues.resubmit.title", m.Sequence, titled(e.Path)), v.padded())
}

// resubmit resubmits dead letters: one unchanged, one edited, or all.
func (r *section) resubmit(c *frame.Request, form url.Values) error {
	path, part, toTopic := form.Get("at"), partOf(form.Get("part")), form.Get("to") == browse.Topic
	if form.Get("all") != "" {
		marked, err := picked(c, form["n"])
		if err != nil {
			return err
		}
		return r.start(c, verbResubmit, browse.Batch{Path: path, Part: part, Only: marked, ToTopic: toTopic}, r.bus().ResubmitAll)
	}
	n, err := number(c, form.Get("n"))
	if err != nil {
		return err
	}
	var edited *browse.Draft
	if form.Get("edited") != "" {
		e, err := r.at(c, path)
		if err != nil {
			return err
		}
		m, err := r.bus().Message(path, part, n)
		if err != nil {
			return problem(c, err)
		}
		read, wrong := readDraft(c, form)
		edited = &read
		edited.KeepBody = form.Get("keepbody") != "" || sameLines(m.Body, edited.Body)
		if len(wrong) > 0 {
			return r.draftAgain(c, draftOf(e, m), form, wrong)
		}
	}
	err = r.bus().Resubmit(path, part, n, edited, toTopic)
	return done(c, err, c.Text("queues.resubmitted", n), address("/entity", "at", path, "part", string(part)))
}

// The breadcrumbs of pages: address and text of each step.

// titled formats a path for headings, so that a subscription's can wrap between its topic and its name.
func titled(path string) string { return strings.Replace(path, "/Subscriptions/", " / ", 1) }

// crumbs leads to an entity.
func crumbs(e browse.Entity) [][2]string {
	var steps [][2]string
	if e.Topic != "" {
		steps = append(steps, [2]string{address("/entity", "at", e.Topic), e.Topic})
	}
	return append(steps, [2]string{address("/entity", "at", e.Path), e.Name})
}

// Crumbs leads back from an entity: from a subscription to its topic.
func (v *entityView) Crumbs() [][2]string {
	steps := crumbs(v.Entity)
	return steps[:len(steps)-1]
}

// Crumbs leads back from a message.
func (v messageView) Crumbs() [][2]string {
	steps := crumbs(v.Entity)
	steps[len(steps)-1][0] = address("/entity", "at", v.At, "part", v.Part)
	return steps
}

// Address returns the address of the message without a view.
func (v messageView) Address() string {
	return messageAddress(v.At, browse.Part(v.Part), v.Message.Sequence)
}

// Download is where the body is.
func (v messageView) Download() string {
	return Path + "/body" + v.Address()[len(Path+"/message"):]
}

// Crumbs leads back from an operation.
func (p progress) Crumbs() [][2]string { return [][2]string{{p.Back(), titled(p.Path)}} }

// Crumbs leads back from a form.
func (v draftView) Crumbs() [][2]string { return crumbs(v.Entity) }

// BodyKinds are the ways in which a body can be written.
func (v draftView) BodyKinds() []string { return []string{asText, asBase64, asHex} }

// TypesWith returns the possible types of a property, including own.
func (v draftView) TypesWith(own string) []string {
	if own == "" || slices.Contains(v.Types, own) {
		return v.Types
	}
	return append([]string{own}, v.Types...)
}

// Crumbs leads back from the rules.
func (v *rulesView) Crumbs() [][2]string { return crumbs(v.Entity) }

// storeCrumbs leads to a storage queue.
func storeCrumbs(q storagequeue.QueueStatus) [][2]string {
	return [][2]string{{storeAddress(q), q.Account + "/" + q.Name}}
}

// Crumbs leads back from a message.
func (v storeMessageView) Crumbs() [][2]string { return storeCrumbs(v.Queue) }

// Address returns the address of the message without a view.
func (v storeMessageView) Address() string {
	return address("/storage/message", "account", v.Queue.Account, "queue", v.Queue.Name, "id", v.Message.ID)
}

// Download is where the text is.
func (v storeMessageView) Download() string {
	return address("/storage/body", "account", v.Queue.Account, "queue", v.Queue.Name, "id", v.Message.ID)
}

// Crumbs leads back from the form.
func (v putView) Crumbs() [][2]string { return storeCrumbs(v.Queue) }

// Back is where the form is left to.
func (v putView) Back() string { return storeAddress(v.Queue) }
