package browse

import (
	"bytes"
	"cmp"
	"math"
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// A Message is one in an entity, as it was at a moment.
type Message struct {
	broker.Snapshot

	Part Part
	Held bool // by a receiver

	MessageID, SessionID, CorrelationID, Subject, ContentType, ContentEncoding string
	To, ReplyTo, ReplyToSessionID, PartitionKey                                string
	HasSession                                                                 bool
	UserID                                                                     []byte
	Creation, AbsoluteExpiry                                                   time.Time

	Reason, Description string // of a dead letter

	Properties  []Property // of the application
	Annotations []Property

	Body Body
}

// A Body is the body as sent. Its bytes belong to the emulator; do not change them.
type Body struct {
	Kind string   // data, value, sequence or none
	Data [][]byte // of data, each of its sections
	Type string   // of a value
	Text string   // of a value or of sequences, in the manner of JSON; "" when it is too large
	Raw  []byte   // the encoding
	Size int64    // of the data, or else of the encoding
}

// The kinds of bodies.
const (
	DataBody     = "data"
	ValueBody    = "value"
	SequenceBody = "sequence"
	NoBody       = "none"
)

// A Query selects messages.
type Query struct {
	Path string
	Part Part
	From int64  // the least sequence number, or with Newest the greatest one; 0: all
	Most int    // messages; default 50
	Text string // that a message must have somewhere, in any case of letters; or its sequence number

	Session *string // that a message must be of; nil: any, or none
	Newest  bool    // first
}

// A Page is some messages.
type Page struct {
	Messages []Message
	Next     int64 // the sequence number to continue with; 0: the end
	Seen     int   // messages that were looked at, when a text is wanted
}

// The limits of one search; the page continues from where it stopped.
const (
	maxSearched      = 20_000
	maxSearchedBytes = 32 << 20
)

// Peek returns the messages of a page. Its errors are described by [IsMissing].
func (n *Namespace) Peek(q Query) (Page, error) {
	w, stages, err := n.inspector(q.Path, q.Part)
	if err != nil {
		return Page{}, err
	}
	q.Most = cmp.Or(max(q.Most, 0), 50)
	var page Page
	var wanted func(g broker.Snapshot) bool
	if q.Text != "" || q.Session != nil {
		wanted = q.wants()
	}
	read := 0
	browse, from := w.Browse, max(q.From, 1)
	if q.Newest {
		if browse = w.BrowseBack; q.From <= 0 {
			from = math.MaxInt64
		}
	}
	for from != 0 {
		most := q.Most - len(page.Messages)
		if wanted != nil {
			most = 256
		}
		found, next, err := browse(from, most, stages)
		if err != nil {
			return Page{}, err
		}
		for i, g := range found {
			page.Seen++
			if wanted == nil || wanted(g) {
				page.Messages = append(page.Messages, n.message(g, q.Part))
			}
			read += int(min(g.Size, maxSearchedBytes))
			full := len(page.Messages) >= q.Most || wanted != nil && (page.Seen >= maxSearched || read >= maxSearchedBytes)
			if full && i+1 < len(found) {
				page.Next = found[i+1].Sequence
				return page, nil
			}
			if full {
				page.Next = next
				return page, nil
			}
		}
		from = next
	}
	return page, nil
}

// wants returns the filter of messages.
func (q Query) wants() func(g broker.Snapshot) bool {
	has := func(broker.Snapshot) bool { return true }
	if q.Text != "" {
		has = search(q.Text)
	}
	if q.Session == nil {
		return has
	}
	return func(g broker.Snapshot) bool {
		p := g.Message().Properties()
		return p.HasGroupID && p.GroupID == *q.Session && has(g)
	}
}

// search returns what finds a text in the properties and the first megabyte of the body of a message.
func search(text string) func(g broker.Snapshot) bool {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		number = -1
	}
	found := func(raw []byte) bool { return bytes.Contains(raw, []byte(text)) }
	if utf8.ValidString(text) { // invalid UTF-8 has no letter case and no pattern
		found = regexp.MustCompile("(?i)" + regexp.QuoteMeta(text)).Match
	}
	return func(g broker.Snapshot) bool {
		if g.Sequence == number {
			return true
		}
		raw := g.Message().Bytes()
		return found(raw[:min(len(raw), 1<<20)])
	}
}

// Message returns one message. Its errors are described by [IsMissing].
func (n *Namespace) Message(path string, part Part, sequence int64) (Message, error) {
	w, _, err := n.inspector(path, part)
	if err != nil {
		return Message{}, err
	}
	g, err := w.Message(sequence)
	if err != nil {
		return Message{}, err
	}
	return n.message(g, part), nil
}

// message decodes what there is but the body's data.
func (n *Namespace) message(g broker.Snapshot, part Part) Message {
	m := g.Message()
	p := m.Properties()
	annotations := g.Annotations()
	shown := Message{
		Snapshot: g, Part: partOf(g, part), Held: g.Stage == broker.Held,
		MessageID: amqp.IDString(p.MessageID), SessionID: p.GroupID, HasSession: p.HasGroupID,
		CorrelationID: amqp.IDString(p.CorrelationID),
		Subject:       p.Subject, ContentType: p.ContentType, ContentEncoding: p.ContentEncoding, To: p.To, ReplyTo: p.ReplyTo,
		ReplyToSessionID: p.ReplyToGroupID, UserID: p.UserID, Creation: p.Creation, AbsoluteExpiry: p.AbsoluteExpiry,
		Properties: properties(m.ApplicationProperties()), Annotations: properties(annotations), Body: body(m),
	}
	shown.PartitionKey, _ = annotations.Get("x-opt-partition-key").(string)
	for _, property := range shown.Properties {
		switch property.Name {
		case broker.ReasonKey:
			shown.Reason = property.Value
		case broker.DescriptionKey:
			shown.Description = property.Value
		}
	}
	return shown
}

// partOf is where a message is now, which may have changed since a page named it.
func partOf(g broker.Snapshot, part Part) Part {
	switch {
	case part == Dead || part == Transfer:
		return part
	case g.Stage == broker.Scheduled:
		return Scheduled
	case g.WasDeferred:
		return Deferred
	default:
		return Active
	}
}

// maxDecoded limits the encoded size of a value that is decoded.
const maxDecoded = 1 << 20

func body(m amqp.Message) Body {
	raw := m.Body()
	b := Body{Raw: raw, Size: int64(len(raw))}
	switch {
	case len(raw) == 0:
		b.Kind = NoBody
		return b
	case bytes.HasPrefix(raw, dataSection):
		b.Kind, b.Data, b.Size = DataBody, m.Data(), 0
		for _, section := range b.Data {
			b.Size += int64(len(section))
		}
		return b
	case bytes.HasPrefix(raw, sequenceSection):
		b.Kind = SequenceBody
	default:
		b.Kind = ValueBody
	}
	if len(raw) > maxDecoded {
		return b
	}
	value, ok := m.Value()
	if !ok {
		value, b.Kind = sequence(raw), SequenceBody
	}
	b.Type, b.Text = amqp.TypeOf(value), text(value)
	return b
}

// How body sections begin.
var (
	dataSection     = []byte{0x00, 0x53, 0x75}
	sequenceSection = []byte{0x00, 0x53, 0x76}
)

// sequence returns the values of sequence sections.
func sequence(raw []byte) amqp.List {
	var all amqp.List
	for len(raw) > 0 {
		value, rest, err := amqp.Unmarshal(raw)
		if err != nil {
			return all
		}
		raw = rest
		section, _ := value.(amqp.Described)
		if values, ok := section.Value.(amqp.List); ok {
			all = append(all, values...)
		}
	}
	return all
}
