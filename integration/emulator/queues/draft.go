package queues

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// draftView is the form of a message.
type draftView struct {
	Entity   browse.Entity
	At       string
	Part     string
	Sequence int64 // of the dead letter that is edited; 0: a new message
	Action   string
	Back     string

	Fields     []field
	Properties []browse.Property
	Types      []string
	Body       string
	BodyAs     string
	KeepBody   bool // it cannot be edited here
	BodySize   int64
	Wrong      map[string]string
	Problem    string
	Test       bool // a message to ask rules about, which is not sent
}

// A field is one of the properties that a sender can set.
type field struct {
	Name, Value string
	Required    bool
	Kind        string // of the input
}

// The names of fields in forms.
const (
	fieldSession   = "session"
	fieldPartition = "partitionkey"
	fieldScheduled = "scheduled"
	fieldTTL       = "ttl"
)

// types are the types of a property, the usual ones first.
var types = browse.Types()

// blankProperties are rows for more properties, for those without scripts.
const blankProperties = 3

// draftFields are the texts that a sender can set, by the names of their fields in forms.
var draftFields = []struct {
	name string
	at   func(d *browse.Draft) *string
}{
	{"contenttype", func(d *browse.Draft) *string { return &d.ContentType }},
	{"subject", func(d *browse.Draft) *string { return &d.Subject }},
	{"messageid", func(d *browse.Draft) *string { return &d.MessageID }},
	{fieldSession, func(d *browse.Draft) *string { return &d.SessionID }},
	{"correlation", func(d *browse.Draft) *string { return &d.CorrelationID }},
	{"to", func(d *browse.Draft) *string { return &d.To }},
	{"replyto", func(d *browse.Draft) *string { return &d.ReplyTo }},
	{"replytosession", func(d *browse.Draft) *string { return &d.ReplyToSessionID }},
	{fieldPartition, func(d *browse.Draft) *string { return &d.PartitionKey }},
}

// fieldsOf returns the fields of a draft.
func fieldsOf(d browse.Draft, requiresSession bool) (all []field) {
	for _, f := range draftFields {
		all = append(all, field{Name: f.name, Value: *f.at(&d), Required: requiresSession && f.name == fieldSession})
	}
	scheduled, ttl := field{Name: fieldScheduled, Kind: "datetime-local"}, field{Name: fieldTTL}
	if !d.Scheduled.IsZero() {
		scheduled.Value = d.Scheduled.UTC().Format("2006-01-02T15:04:05")
	}
	if d.TTL > 0 {
		ttl.Value = spanText(d.TTL)
	}
	return append(all, scheduled, ttl)
}

// draftOf is the form of a dead letter.
func draftOf(e browse.Entity, m browse.Message) draftView {
	d := m.Draft()
	v := draftView{
		Entity: e, At: e.Path, Part: string(m.Part), Sequence: m.Sequence, Action: Path + "/resubmit", Types: types,
		Fields: fieldsOf(d, e.RequiresSession), BodyAs: asText, BodySize: m.Body.Size, Properties: d.Properties,
	}
	text, ok := editable(m.Body)
	v.Body, v.KeepBody = text, !ok
	return v
}

// copyable reports whether a form can hold all of a message.
func copyable(m browse.Message) bool {
	for _, p := range m.Draft().Properties {
		if !slices.Contains(types, p.Type) {
			return false
		}
	}
	return m.Body.Kind == "none" || m.Body.Kind == "data" && m.Body.Size <= maxText
}

// copyOf is the form of a new message that is like another.
func copyOf(e browse.Entity, m browse.Message) draftView {
	v, d := emptyDraft(e), m.Draft()
	d.MessageID = ""
	v.Fields, v.Properties = fieldsOf(d, e.RequiresSession), d.Properties
	if text, ok := editable(m.Body); ok {
		v.Body = text
	} else {
		v.Body, v.BodyAs = base64.StdEncoding.EncodeToString(bytes.Join(m.Body.Data, nil)), asBase64
	}
	return v
}

// editable returns a body that a form can take.
func editable(b browse.Body) (string, bool) {
	if b.Kind == "none" {
		return "", true
	}
	if b.Kind != "data" || b.Size > maxText {
		return "", false
	}
	text := joined(b.Data, maxText)
	return string(text), isText(text) && !bytes.ContainsRune(text, '\uFEFF')
}

// sameLines reports whether a form gave a body back as it was: browsers change line ends.
func sameLines(b browse.Body, given []byte) bool {
	text, ok := editable(b)
	return ok && b.Kind == "data" && lines(text) == lines(string(given))
}

func lines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// readDraft reads a form. wrong holds the problems by field name.
func readDraft(c *frame.Request, form url.Values) (d browse.Draft, wrong map[string]string) {
	wrong = map[string]string{}
	for _, f := range draftFields {
		*f.at(&d) = form.Get(f.name)
	}
	if text := strings.TrimSpace(form.Get(fieldScheduled)); text != "" {
		at, err := localTime(text, c.Zone())
		if err != nil {
			wrong[fieldScheduled] = c.Text("queues.wrong.time", text)
		}
		d.Scheduled = at
	}
	if text := strings.TrimSpace(form.Get(fieldTTL)); text != "" {
		ttl, err := parseSpan(text)
		if err != nil || ttl <= 0 {
			wrong[fieldTTL] = c.Text("queues.wrong.ttl", text)
		}
		d.TTL = ttl
	}
	if d.PartitionKey != "" && d.SessionID != "" && d.PartitionKey != d.SessionID {
		wrong[fieldPartition] = c.Text("queues.wrong.partition")
	}
	d.Properties = rows(c, form, "p", "properties", wrong)
	var err error
	body := lines(form.Get("body"))
	switch form.Get("bodyas") {
	case asBase64:
		d.Body, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
	case asHex:
		d.Body, err = hex.DecodeString(strings.Join(strings.Fields(body), ""))
	default:
		d.Body = []byte(body)
	}
	if err != nil {
		wrong["body"] = notBytes(c, err)
	}
	return d, wrong
}

// notBytes explains why a text is neither base64 nor hex digits.
func notBytes(c *frame.Request, err error) string {
	if at, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return c.Text("queues.wrong.base64", int64(at)+1)
	}
	if odd, ok := errors.AsType[hex.InvalidByteError](err); ok {
		return c.Text("queues.wrong.hex", frame.Visible(string(rune(odd))))
	}
	return c.Text("queues.wrong.hex.odd")
}

// localTime reads a time as an input of the browser gives it, in the browser's zone.
func localTime(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at.UTC(), nil
		}
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at.UTC(), err
}

// refilled restores the user's input in the form.
func (v draftView) refilled(form url.Values) draftView {
	for i := range v.Fields {
		v.Fields[i].Value = form.Get(v.Fields[i].Name)
	}
	v.Properties = typedRows(form, "p")
	v.Body, v.BodyAs = form.Get("body"), form.Get("bodyas")
	return v
}

// draftAgain shows a form with its problems.
func (r *section) draftAgain(c *frame.Request, v draftView, form url.Values, wrong map[string]string) error {
	v = v.refilled(form)
	v.Wrong = wrong
	title := c.Text("queues.send.title", titled(v.At))
	if v.Sequence != 0 {
		title = c.Text("queues.resubmit.title", v.Sequence, titled(v.At))
		v.Back = messageAddress(v.At, browse.Part(v.Part), v.Sequence)
	}
	return draftPage.show(c, http.StatusUnprocessableEntity, title, v.padded())
}

// padded has rows for more properties.
func (v draftView) padded() draftView {
	v.Properties = withBlanks(v.Properties, blankProperties)
	return v
}

// emptyDraft is the form of a new message.
func emptyDraft(e browse.Entity) draftView {
	return draftView{
		Entity: e, At: e.Path, Action: Path + "/send", Back: address("/entity", "at", e.Path), Types: types, BodyAs: asText,
		Fields: fieldsOf(browse.Draft{ContentType: "application/json"}, e.RequiresSession),
	}
}

func (r *section) newDraft(c *frame.Request, e browse.Entity) error {
	v := emptyDraft(e)
	if from := c.Query("from"); c.Query("n") != "" { // copy an existing message
		m, err := r.messageOf(c, from)
		if err != nil {
			return err
		}
		v = copyOf(e, m)
		v.Back = messageAddress(from, m.Part, m.Sequence)
	}
	return draftPage.show(c, 0, c.Text("queues.send.title", titled(e.Path)), v.padded())
}

// sent links to the sent message.
func (r *section) sent(c *frame.Request, e browse.Entity, d browse.Draft, part browse.Part) string {
	switch {
	case part == browse.Scheduled:
		return c.Text("queues.sent.later", e.Path)
	case e.Kind != browse.Topic:
		return c.Text("queues.sent", e.Path)
	}
	taken := 0
	for _, s := range r.subscriptions(e) {
		trials, err := r.bus().Try(s.Path, d)
		if err == nil && slices.ContainsFunc(trials, func(t browse.Trial) bool { return t.Passes }) {
			taken++
		}
	}
	if taken == 0 {
		return c.Text("queues.sent.nowhere", e.Path)
	}
	return many(c, "queues.sent.topic", taken, e.Path)
}

// send sends a message.
func (r *section) send(c *frame.Request, form url.Values, e browse.Entity) error {
	d, wrong := readDraft(c, form)
	if len(wrong) == 0 {
		err := r.bus().Send(e.Path, d)
		if err == nil {
			part := browse.Active
			if d.Scheduled.After(time.Now()) {
				part = browse.Scheduled
			}
			return c.Done(r.sent(c, e, d, part), address("/entity", "at", e.Path, "part", string(part)))
		}
		wrong["form"] = c.Describe(problem(c, err)).Text
	}
	return r.draftAgain(c, emptyDraft(e), form, wrong)
}
