package rest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// propertiesHeader has the properties of a message that Service Bus knows.
const propertiesHeader = "BrokerProperties"

// given are the properties that a sender may set. Others are ignored, as the documents say.
type given struct {
	CorrelationID           string      `json:"CorrelationId"`
	Label                   string      `json:"Label"`
	MessageID               string      `json:"MessageId"`
	PartitionKey            string      `json:"PartitionKey"`
	ReplyTo                 string      `json:"ReplyTo"`
	ReplyToSessionID        string      `json:"ReplyToSessionId"`
	ScheduledEnqueueTimeUtc string      `json:"ScheduledEnqueueTimeUtc"`
	SessionID               *string     `json:"SessionId"`
	TimeToLive              json.Number `json:"TimeToLive"`         // seconds
	TimeToLiveTimeSpan      string      `json:"TimeToLiveTimeSpan"` // "d.hh:mm:ss", in a batch
	To                      string      `json:"To"`
	ViaPartitionKey         string      `json:"ViaPartitionKey"`
	ContentType             string      `json:"ContentType"` // in a batch, where there is no header for it
}

// appendTo appends the sections of a message before its body, but for the properties of the application. It fails on a property
// that is malformed.
func (g *given) appendTo(raw []byte) ([]byte, error) {
	ttl, err := g.life()
	if err != nil {
		return nil, err
	}
	annotations := amqp.Map{}
	for _, key := range []struct{ name, value string }{
		{"x-opt-partition-key", g.PartitionKey}, {"x-opt-via-partition-key", g.ViaPartitionKey},
	} {
		if key.value != "" {
			annotations = append(annotations, amqp.Pair{Key: amqp.Symbol(key.name), Value: key.value})
		}
	}
	if g.ScheduledEnqueueTimeUtc != "" {
		at, err := parseTime(g.ScheduledEnqueueTimeUtc)
		if err != nil {
			return nil, badRequest(propertiesHeader + ": ScheduledEnqueueTimeUtc: " + err.Error())
		}
		annotations = append(annotations, amqp.Pair{Key: amqp.Symbol("x-opt-scheduled-enqueue-time"), Value: at})
	}
	properties := amqp.Properties{
		To: g.To, Subject: g.Label, ReplyTo: g.ReplyTo, ContentType: g.ContentType, ReplyToGroupID: g.ReplyToSessionID,
	}
	if g.MessageID != "" {
		properties.MessageID = g.MessageID
	}
	if g.CorrelationID != "" {
		properties.CorrelationID = g.CorrelationID
	}
	if g.SessionID != nil {
		properties.GroupID, properties.HasGroupID = *g.SessionID, true
		if g.PartitionKey != "" && g.PartitionKey != *g.SessionID {
			return nil, badRequest(propertiesHeader + ": PartitionKey and SessionId are set and differ.")
		}
	}
	raw = amqp.AppendHeader(raw, amqp.Header{Durable: true, Priority: 4, TTL: ttl})
	if len(annotations) > 0 {
		raw = amqp.AppendMessageAnnotations(raw, annotations)
	}
	return amqp.AppendProperties(raw, properties), nil
}

// life returns how long the message lives, or 0 for as long as its entity lets it.
func (g *given) life() (time.Duration, error) {
	if g.TimeToLiveTimeSpan != "" {
		return parseTimeSpan(g.TimeToLiveTimeSpan)
	}
	if g.TimeToLive == "" {
		return 0, nil
	}
	seconds, err := g.TimeToLive.Float64()
	switch {
	case err != nil || seconds <= 0 || math.IsNaN(seconds):
		return 0, badRequest(fmt.Sprintf("%s: TimeToLive: %.100q is no number of seconds above 0.", propertiesHeader, string(g.TimeToLive)))
	case seconds > maxLife.Seconds():
		return 0, nil
	default:
		return time.Duration(seconds * float64(time.Second)), nil
	}
}

// maxLife is what AMQP can say in milliseconds. A message that is to live longer lives for ever.
const maxLife = math.MaxUint32 * time.Millisecond

// parseTimeSpan reads a duration as .NET writes it, such as "1.02:03:04.5".
func parseTimeSpan(text string) (time.Duration, error) {
	bad := badRequest(fmt.Sprintf(`%s: TimeToLiveTimeSpan: %.100q is not "d.hh:mm:ss" above 0.`, propertiesHeader, text))
	parts := strings.Split(strings.TrimSpace(text), ":")
	if len(parts) != 3 {
		return 0, bad
	}
	days, hours, found := strings.Cut(parts[0], ".")
	if !found {
		days, hours = "0", parts[0]
	}
	seconds := 0.0
	for _, part := range []struct {
		text string
		unit float64
	}{{days, 86400}, {hours, 3600}, {parts[1], 60}, {parts[2], 1}} {
		n, err := strconv.ParseFloat(part.text, 64)
		if err != nil || n < 0 || n > 1e9 || math.IsNaN(n) {
			return 0, bad
		}
		seconds += n * part.unit
	}
	switch {
	case seconds == 0:
		return 0, bad
	case seconds > maxLife.Seconds():
		return 0, nil
	default:
		return time.Duration(seconds * float64(time.Second)), nil
	}
}

// parseTime reads a time as HTTP or as ISO 8601 writes it; one without a zone is UTC.
func parseTime(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{http.TimeFormat, time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%.100q is not a time such as %q", text, http.TimeFormat)
}

// forEver is how the service writes that a message does not expire.
const forEver = 922337203685.47754

// taken returns the properties of a message that was received, as JSON.
func taken(m amqp.Message, sequence int64, token amqp.UUID, lockedUntil time.Time) string {
	header, p, annotations := m.Header(), m.Properties(), m.MessageAnnotations()
	all := map[string]any{
		"DeliveryCount": header.DeliveryCount + 1, "SequenceNumber": sequence, "State": "Active", "TimeToLive": forEver,
		"EnqueuedSequenceNumber": 0,
	}
	if header.TTL > 0 {
		all["TimeToLive"] = header.TTL.Seconds()
	}
	if n, ok := annotations.Get("x-opt-enqueue-sequence-number").(int64); ok {
		all["EnqueuedSequenceNumber"] = n
	}
	for name, at := range map[string]any{
		"EnqueuedTimeUtc": annotations.Get("x-opt-enqueued-time"), "LockedUntilUtc": lockedUntil,
		"ScheduledEnqueueTimeUtc": annotations.Get("x-opt-scheduled-enqueue-time"),
	} {
		if t, ok := at.(time.Time); ok && !t.IsZero() {
			all[name] = t.UTC().Format(http.TimeFormat)
		}
	}
	partition, _ := annotations.Get("x-opt-partition-key").(string)
	via, _ := annotations.Get("x-opt-via-partition-key").(string)
	source, _ := annotations.Get("x-opt-deadletter-source").(string)
	for name, text := range map[string]string{
		"CorrelationId": amqp.IDString(p.CorrelationID), "Label": p.Subject, "MessageId": amqp.IDString(p.MessageID),
		"PartitionKey": partition, "ReplyTo": p.ReplyTo, "ReplyToSessionId": p.ReplyToGroupID, "To": p.To,
		"ViaPartitionKey": via, "DeadLetterSource": source,
	} {
		if text != "" {
			all[name] = text
		}
	}
	if p.HasGroupID {
		all["SessionId"] = p.GroupID
	}
	if token != (amqp.UUID{}) {
		all["LockToken"] = token.String()
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return "{}" // there is nothing in it that cannot be
	}
	return ascii(raw)
}

// ascii writes JSON without other characters, as headers of HTTP have it.
func ascii(raw []byte) string {
	var b strings.Builder
	for _, r := range string(raw) {
		switch {
		case r < 0x80:
			b.WriteByte(byte(r))
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}
