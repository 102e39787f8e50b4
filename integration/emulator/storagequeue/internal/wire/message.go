package wire

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// MaxText is the length of the longest message text in bytes of UTF-8.
const MaxText = 64 << 10

// MaxBody is the length of the longest request body that is read. A text in which every character is escaped is still below.
const MaxBody = 6*MaxText + 1<<10

// A Message is one of a queue as its readers see it.
type Message struct {
	ID           string
	Text         string
	Inserted     time.Time
	Expires      time.Time
	Receipt      string
	NextVisible  time.Time
	DequeueCount int
}

// A Face says which elements of a message an answer has.
type Face int

// The answers to put, get and peek.
const (
	Put Face = iota
	Taken
	Peeked
)

// ParseMessage reads the text of a message. An empty body has none.
func ParseMessage(body []byte) (text string, ok bool, err error) {
	if len(body) == 0 {
		return "", false, nil
	}
	root, err := parse(body, "QueueMessage")
	if err != nil {
		return "", false, err
	}
	root.only("MessageText")
	if root.document.err != nil {
		return "", false, InvalidXML.With("Reason", "there is more than the MessageText")
	}
	text, ok = root.value("MessageText")
	if len(text) > MaxText {
		root.fail(BodyTooLarge.With("MaxLimit", strconv.Itoa(MaxText)))
	}
	return text, ok, root.document.err
}

// Messages is the list that answers put, get and peek.
func Messages(face Face, messages []Message) []byte {
	var b bytes.Buffer
	b.WriteString(declaration)
	b.WriteString("<QueueMessagesList>")
	for i := range messages {
		m := &messages[i]
		b.WriteString("<QueueMessage>")
		element(&b, "MessageId", m.ID)
		element(&b, "InsertionTime", HTTPTime(m.Inserted))
		element(&b, "ExpirationTime", HTTPTime(m.Expires))
		if face != Peeked {
			element(&b, "PopReceipt", m.Receipt)
			element(&b, "TimeNextVisible", HTTPTime(m.NextVisible))
		}
		if face != Put {
			element(&b, "DequeueCount", strconv.Itoa(m.DequeueCount))
			element(&b, "MessageText", m.Text)
		}
		b.WriteString("</QueueMessage>")
	}
	b.WriteString("</QueueMessagesList>")
	return b.Bytes()
}

// A Listing is a page of an account's queues.
type Listing struct {
	Endpoint   string
	Prefix     string // "" for none, as the next two
	Marker     string
	MaxResults int // 0 for none
	Queues     []Queue
	NextMarker string
}

// A Queue is an entry of a listing.
type Queue struct {
	Name     string
	Metadata map[string]string // names as their client wrote them; nil when it was not asked for
}

// Body is the listing as the service answers it.
func (l Listing) Body() []byte {
	var b bytes.Buffer
	b.WriteString(declaration)
	b.WriteString(`<EnumerationResults ServiceEndpoint="`)
	escape(&b, l.Endpoint)
	b.WriteString(`">`)
	optional(&b, "Prefix", l.Prefix)
	optional(&b, "Marker", l.Marker)
	if l.MaxResults > 0 {
		element(&b, "MaxResults", strconv.Itoa(l.MaxResults))
	}
	b.WriteString("<Queues>")
	for _, queue := range l.Queues {
		b.WriteString("<Queue>")
		element(&b, "Name", queue.Name)
		if queue.Metadata != nil {
			b.WriteString("<Metadata>")
			for _, name := range slices.Sorted(maps.Keys(queue.Metadata)) {
				element(&b, name, queue.Metadata[name])
			}
			b.WriteString("</Metadata>")
		}
		b.WriteString("</Queue>")
	}
	b.WriteString("</Queues>")
	element(&b, "NextMarker", l.NextMarker)
	b.WriteString("</EnumerationResults>")
	return b.Bytes()
}

// Forever is when a message expires that never does.
var Forever = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

// HTTPTime is a time as messages and headers carry it, in whole seconds.
func HTTPTime(t time.Time) string {
	return t.UTC().Format(http.TimeFormat)
}

// ISOTime is a time as access policies carry it.
func ISOTime(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.0000000Z")
}

// OptionalISOTime is ISOTime, but nothing for the zero time.
func OptionalISOTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ISOTime(t)
}

// isoForms are the formats of times in access policies and signatures. Fractions of a second need no separate
// format.
var isoForms = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02"}

// ParseISOTime reads the time of an access policy or a signature, from the year 1 to 9999.
func ParseISOTime(s string) (time.Time, bool) {
	for _, form := range isoForms {
		if t, err := time.Parse(form, s); err == nil {
			t = t.UTC()
			return t, t.Year() > 0 && t.Year() < 10000
		}
	}
	return time.Time{}, false
}
