package wire

import (
	"bytes"
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
