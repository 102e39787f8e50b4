package admin

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// deadLetterSuffix leads to the dead letters of an entity.
const deadLetterSuffix = "/$DeadLetterQueue"

// Limits of one request.
const (
	defaultMessages = 50
	maxMessages     = 500
)

type messageJSON struct {
	SequenceNumber int64          `json:"sequenceNumber"`
	MessageID      string         `json:"messageId"`
	EnqueuedTime   time.Time      `json:"enqueuedTime"`
	State          string         `json:"state"`
	DeliveryCount  uint32         `json:"deliveryCount"`
	SessionID      string         `json:"sessionId,omitempty"`
	CorrelationID  string         `json:"correlationId,omitempty"`
	Subject        string         `json:"subject,omitempty"`
	ContentType    string         `json:"contentType,omitempty"`
	To             string         `json:"to,omitempty"`
	ReplyTo        string         `json:"replyTo,omitempty"`
	ScheduledTime  *time.Time     `json:"scheduledEnqueueTime,omitempty"`
	Properties     map[string]any `json:"applicationProperties,omitempty"`
	// Body is text, and Base64 the body if it is not. A body that is a value is its text.
	Body   *string `json:"body,omitempty"`
	Base64 []byte  `json:"bodyBase64,omitempty"`
}

// peek shows messages without locking them.
func (h *handler) peek(r *http.Request) (any, error) { return h.show(r, "") }

// deadLetters shows the dead letters of an entity.
func (h *handler) deadLetters(r *http.Request) (any, error) { return h.show(r, deadLetterSuffix) }

// show shows messages of the entity with a suffix.
func (h *handler) show(r *http.Request, suffix string) (any, error) {
	from, err := number(r, "from", 0)
	if err != nil {
		return nil, err
	}
	top, err := number(r, "top", defaultMessages)
	if err != nil {
		return nil, err
	}
	source, err := h.existing(r, suffix)
	if err != nil {
		return nil, err
	}
	var session *string
	if values := r.URL.Query(); values.Has("session") {
		session = new(values.Get("session"))
	}
	deliveries, err := source.Peek(from, int(min(top, maxMessages)), session)
	if err != nil {
		return nil, err
	}
	messages := []messageJSON{}
	for _, d := range deliveries {
		m, err := amqp.ParseMessage(d.Payload)
		if err != nil {
			return nil, err
		}
		messages = append(messages, newMessageJSON(d, m))
	}
	return map[string]any{"messages": messages}, nil
}

// existing returns the source that a request is about, with a suffix. Unlike a client's, a question of this interface
// makes no entity.
func (h *handler) existing(r *http.Request, suffix string) (*broker.Source, error) {
	path, err := entityOf(r)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(strings.ToLower(path), "/$management") { // the broker passes it over
		return nil, broker.ErrNotFound(path)
	}
	if _, err := h.Broker.Inspect(path); err != nil {
		return nil, err
	}
	if !strings.HasSuffix(strings.ToLower(path), strings.ToLower(suffix)) {
		path += suffix
	}
	return h.Broker.Source(path)
}

func newMessageJSON(d broker.Delivery, m amqp.Message) messageJSON {
	p, annotations := m.Properties(), m.MessageAnnotations()
	j := messageJSON{
		SequenceNumber: d.Sequence,
		MessageID:      amqp.IDString(p.MessageID),
		State:          "active",
		DeliveryCount:  m.Header().DeliveryCount,
		SessionID:      p.GroupID,
		CorrelationID:  amqp.IDString(p.CorrelationID),
		Subject:        p.Subject,
		ContentType:    p.ContentType,
		To:             p.To,
		ReplyTo:        p.ReplyTo,
	}
	j.EnqueuedTime, _ = annotations.Get("x-opt-enqueued-time").(time.Time)
	if scheduled, ok := annotations.Get("x-opt-scheduled-enqueue-time").(time.Time); ok {
		j.ScheduledTime = &scheduled
	}
	switch annotations.Get("x-opt-message-state") {
	case int32(1):
		j.State = "deferred"
	case int32(2):
		j.State = "scheduled"
	}
	for _, pair := range m.ApplicationProperties() {
		if j.Properties == nil {
			j.Properties = map[string]any{}
		}
		j.Properties[fmt.Sprint(pair.Key)] = plain(pair.Value)
	}
	j.setBody(m)
	return j
}

func (j *messageJSON) setBody(m amqp.Message) {
	if value, ok := m.Value(); ok {
		j.Body = new(fmt.Sprint(plain(value)))
		return
	}
	if body := bytes.Join(m.Data(), nil); utf8.Valid(body) {
		j.Body = new(string(body))
	} else {
		j.Base64 = body
	}
}

// plain returns a value as JSON can have it.
func plain(value any) any {
	switch v := value.(type) {
	case nil, bool, string, time.Time, uint8, uint16, uint32, int8, int16, int32:
		return v
	case int64:
		return whole(v, strconv.FormatInt(v, 10))
	case uint64:
		return whole(int64(min(v, math.MaxInt64)), strconv.FormatUint(v, 10))
	case float32:
		return finite(float64(v))
	case float64:
		return finite(v)
	case amqp.Symbol:
		return string(v)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case amqp.UUID:
		return v.String()
	case amqp.Char:
		return string(rune(v))
	case amqp.Decimal:
		return hex.EncodeToString([]byte(v))
	case amqp.List:
		return plainAll(v)
	case amqp.Array:
		return plainAll(v)
	case amqp.Map:
		object := map[string]any{}
		for _, pair := range v {
			object[fmt.Sprint(plain(pair.Key))] = plain(pair.Value)
		}
		return object
	case amqp.Described:
		return plain(v.Value)
	default:
		return fmt.Sprint(v)
	}
}

// whole returns a number as such if every reader of JSON can hold it, and else as text.
func whole(n int64, text string) any {
	const exact = 1 << 53
	if n > -exact && n < exact {
		return n
	}
	return text
}

func finite(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Sprint(f)
	}
	return f
}

func plainAll(values []any) []any {
	all := make([]any, len(values))
	for i, value := range values {
		all[i] = plain(value)
	}
	return all
}

// purge deletes the unlocked messages of an entity, and for a topic those in its subscriptions.
func (h *handler) purge(r *http.Request) (any, error) {
	path, err := entityOf(r)
	if err != nil {
		return nil, err
	}
	subscriptions, err := h.Broker.Subscriptions(path)
	if err != nil { // it is not a topic
		return h.purgeBelow(r, "")
	}
	n, err := h.purgeOne(r, path)
	for _, s := range subscriptions {
		more := 0
		if err == nil {
			more, err = h.purgeOne(r, s.Path)
		}
		if n += more; browse.IsMissing(err) {
			err = nil // deleted meanwhile
		}
	}
	return map[string]int{"deleted": n}, err
}

// purgeDeadLetters deletes the dead letters of an entity.
func (h *handler) purgeDeadLetters(r *http.Request) (any, error) {
	return h.purgeBelow(r, deadLetterSuffix)
}

func (h *handler) purgeBelow(r *http.Request, suffix string) (any, error) {
	source, err := h.existing(r, suffix)
	if err != nil {
		return nil, err
	}
	n, err := h.purgeOne(r, source.Path())
	return map[string]int{"deleted": n}, err
}

// purgeOne deletes the messages at a path. It continues when the client disconnects.
func (h *handler) purgeOne(r *http.Request, path string) (int, error) {
	t, err := browse.New(h.Broker).Purge(context.WithoutCancel(r.Context()), browse.Batch{Path: path})
	return t.Done, err
}

// resubmit sends dead letters again, to the queue or topic that they came from. Each is in one place at any time.
func (h *handler) resubmit(r *http.Request) (any, error) {
	wanted, err := sequenceNumbers(r)
	if err != nil {
		return nil, err
	}
	source, err := h.existing(r, deadLetterSuffix)
	if err != nil {
		return nil, err
	}
	batch := browse.Batch{Path: source.Path(), Only: wanted, ToTopic: true}
	t, err := browse.New(h.Broker).ResubmitAll(context.WithoutCancel(r.Context()), batch) // continues if the client disconnects
	switch {
	case err != nil:
		return nil, fmt.Errorf("%d were resubmitted, then: %w", t.Done, err)
	case t.Refused > 0:
		return nil, fmt.Errorf("%d were resubmitted, and %d stay dead letters: %w", t.Done, t.Refused, t.Why)
	}
	return map[string]int{"resubmitted": t.Done}, nil
}

// sequenceNumbers returns the dead letters that a request names; none means all.
func sequenceNumbers(r *http.Request) ([]int64, error) {
	var numbers []int64
	for _, text := range r.URL.Query()["sequence"] {
		for one := range strings.SplitSeq(text, ",") {
			n, err := strconv.ParseInt(strings.TrimSpace(one), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%w: sequence: %q is not a number", errBadRequest, one)
			}
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}
