package wire

import (
	"encoding/xml"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/internal/plainxml"
)

// MaxText is the length of the longest message text in bytes of UTF-8.
const MaxText = 64 << 10

// MaxBody is the length of the longest request body that is read. A text in which every character is escaped is still below.
const MaxBody = 6*MaxText + 1<<10

// A Message is one of a queue as its readers see it, and as it is in files.
type Message struct {
	ID           string    `json:"id"`
	Text         string    `json:"text"`
	Inserted     time.Time `json:"inserted"`
	Expires      time.Time `json:"expires"`
	NextVisible  time.Time `json:"visible"`
	Receipt      string    `json:"receipt"`
	DequeueCount int       `json:"count,omitempty"`
}

// A Face selects the elements of a message in a response.
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
	type message struct {
		ID              string `xml:"MessageId"`
		InsertionTime   string
		ExpirationTime  string
		PopReceipt      string  `xml:",omitempty"`
		TimeNextVisible string  `xml:",omitempty"`
		DequeueCount    *int    `xml:",omitempty"`
		MessageText     *string `xml:",omitempty"`
	}
	list := struct {
		XMLName  xml.Name  `xml:"QueueMessagesList"`
		Messages []message `xml:"QueueMessage"`
	}{}
	for i := range messages {
		m := &messages[i]
		shown := message{ID: m.ID, InsertionTime: HTTPTime(m.Inserted), ExpirationTime: HTTPTime(m.Expires)}
		if face != Peeked {
			shown.PopReceipt, shown.TimeNextVisible = m.Receipt, HTTPTime(m.NextVisible)
		}
		if face != Put {
			shown.DequeueCount, shown.MessageText = &m.DequeueCount, &m.Text
		}
		list.Messages = append(list.Messages, shown)
	}
	return body(list)
}

// body encodes the document of an answer.
func body(document any) []byte {
	b, err := plainxml.Marshal(document)
	if err != nil {
		panic(err) // every document can be encoded
	}
	return append([]byte(`<?xml version="1.0" encoding="utf-8"?>`), b...)
}

// A Listing is a page of an account's queues.
type Listing struct {
	XMLName    xml.Name `xml:"EnumerationResults"`
	Endpoint   string   `xml:"ServiceEndpoint,attr"`
	Prefix     string   `xml:",omitempty"` // "" for none, as the next two
	Marker     string   `xml:",omitempty"`
	MaxResults int      `xml:",omitempty"` // 0 for none
	Queues     struct {
		Queue []Queue
	}
	NextMarker string
}

// A Queue is an entry of a listing.
type Queue struct {
	Name     string
	Metadata *Metadata // nil when it was not asked for
}

// Metadata is an element for each value of a queue's metadata, with the name as its client wrote it.
type Metadata struct{ Values []Detail }

// NewMetadata returns metadata, sorted by name.
func NewMetadata(values map[string]string) *Metadata {
	m := &Metadata{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		m.Values = append(m.Values, newDetail(name, values[name]))
	}
	return m
}

// Body is the listing as the service answers it.
func (l Listing) Body() []byte { return body(l) }

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
