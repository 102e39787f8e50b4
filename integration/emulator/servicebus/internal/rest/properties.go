package rest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/integration/emulator/internal/spelling"
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
	ContentType             string      `json:"ContentType"` // in a batch, which has no header for it
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

// taken returns the properties of a received message as JSON.
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

// reserved are the headers, in lower case, that are of HTTP, of the service or of those between, and so no properties.
var reserved = func() map[string]bool {
	names := map[string]bool{}
	for name := range strings.FieldsSeq(`accept accept-charset accept-encoding accept-language access-control-request-headers
		access-control-request-method authorization brokerproperties cache-control connection content-disposition content-encoding
		content-language content-length content-location content-md5 content-range content-type cookie date dnt expect forwarded from
		host http2-settings if-match if-modified-since if-none-match if-range if-unmodified-since keep-alive last-modified location
		max-forwards origin pragma proxy-authenticate proxy-authorization proxy-connection range referer request-id server set-cookie
		strict-transport-security te traceparent tracestate trailer transfer-encoding upgrade upgrade-insecure-requests user-agent vary
		via warning www-authenticate x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-proto x-real-ip
		servicebusauthorization servicebussupplementaryauthorization servicebusdlqsupplementaryauthorization`) {
		names[name] = true
	}
	return names
}()

// isReserved reports whether a header is no property.
func isReserved(name string) bool {
	name = strings.ToLower(name)
	return reserved[name] || strings.HasPrefix(name, "x-ms-") || strings.HasPrefix(name, "sec-")
}

// custom returns the properties that a sender has put into headers, by name, so that their order is no matter of chance.
func custom(ctx context.Context, header http.Header) amqp.Map {
	var properties amqp.Map
	for name, values := range header {
		if !isReserved(name) {
			properties = append(properties, amqp.Pair{Key: spelling.Of(ctx, name), Value: parseProperty(strings.Join(values, ","))})
		}
	}
	slices.SortFunc(properties, func(a, b amqp.Pair) int { return strings.Compare(a.Key.(string), b.Key.(string)) })
	return properties
}

// parseProperty reads the value of a header: text in double quotes, true, false, or a number. Other values are text, too.
func parseProperty(text string) any {
	if !utf8.ValidString(text) { // there are clients that write headers as Latin-1
		runes := make([]rune, len(text))
		for i := range len(text) {
			runes[i] = rune(text[i])
		}
		text = string(runes)
	}
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return text[1 : len(text)-1]
	}
	switch strings.ToLower(text) {
	case "true":
		return true
	case "false":
		return false
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return smallest(n)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return f
	}
	return text
}

// smallest returns a number as an int if it is one for .NET, and else as a long.
func smallest(n int64) any {
	if n == int64(int32(n)) {
		return int32(n)
	}
	return n
}

// setCustom writes the properties of the application as headers. A property whose name is invalid in a header is
// omitted.
func setCustom(header http.Header, properties amqp.Map) {
	for _, pair := range properties {
		name, ok := pair.Key.(string)
		if text, has := formatProperty(pair.Value); ok && has && !isReserved(name) {
			header[name] = []string{printable(text)}
		}
	}
}

// printable returns text with spaces for the characters that no header can have: there are clients that refuse the whole answer.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// formatProperty writes the value of a property as a header has it. Null has no header.
func formatProperty(value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "", false
	case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v), true
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case time.Time:
		return `"` + v.UTC().Format(http.TimeFormat) + `"`, true
	case amqp.Char:
		return `"` + string(rune(v)) + `"`, true
	case []byte:
		return `"` + base64.StdEncoding.EncodeToString(v) + `"`, true
	default:
		return `"` + fmt.Sprint(v) + `"`, true
	}
}
