package servicebus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
)

// action is a compiled message and where it goes.
type action struct {
	kind

	client         *Client
	namespace      namespace
	entity         string // the path of the queue or topic
	authentication authentication
	content        payload.Content
	properties     properties
	custom         map[string]any   // application properties, without
	secrets        []secretProperty // of the application properties
}

var _ scheduler.SecretDestination = (*action)(nil)

// Target implements [scheduler.Action]: it returns the namespace's host, which does not depend on the form of
// its name or on mapped endpoints.
func (a *action) Target() string { return a.namespace.target }

// Recipients implements [scheduler.SecretDestination]: the namespace, and who receives
// from the queue or topic when properties of the message are secrets.
func (a *action) Recipients() []scheduler.Recipient {
	address := a.namespace.target
	if !a.namespace.mapped {
		scheme := "amqps://"
		if a.namespace.plain {
			scheme = "amqp://"
		}
		address = scheme + strings.ToLower(a.namespace.authority())
	}
	all := []scheduler.Recipient{{Address: address}}
	if len(a.secrets) > 0 {
		all = append(all, scheduler.Recipient{Role: a.noun, Address: strings.ToLower(a.entity)})
	}
	return all
}

// Invoke implements [scheduler.Action]: it renders and sends the message of an attempt, and reports the outcome.
func (a *action) Invoke(ctx context.Context, at scheduler.Attempt) scheduler.Result {
	return a.attempt(ctx, at).By(a.name)
}

func (a *action) attempt(ctx context.Context, at scheduler.Attempt) scheduler.Result {
	start := time.Now()
	rendered, err := a.content.Render(at)
	if err != nil {
		return actions.Invalid(err).Result("The message cannot be made: " + err.Error())
	}
	key, failure := a.authentication.reveal(at)
	if failure != nil {
		return a.unsent(failure)
	}
	secrets, err := a.revealed(at)
	if err != nil {
		return a.unsent(actions.Unready(err))
	}
	m, id := a.message(at, rendered, secrets, start)
	to := destination{account{a.namespace.place, a.authentication.name, key}, a.entity}
	if err := a.client.send(ctx, to, m); err != nil {
		return a.failed(ctx, err, at.Timeout, time.Since(start))
	}
	where := a.noun + " '" + a.entity + "' of namespace '" + a.namespace.name + "'"
	return scheduler.Result{
		Status:  http.StatusAccepted, // AMQP's outcome is called accepted
		Summary: "Message '" + id + "' sent to " + where,
	}
}

// unsent is the result of an attempt without a response.
func (a *action) unsent(f *actions.Failure) scheduler.Result {
	text := "Request to namespace '" + a.namespace.name + "'"
	if a.namespace.mapped {
		text += " at " + a.namespace.address()
	}
	return f.Result(text + " failed: " + f.Reason)
}

// The annotations of a message that the service reads.
const (
	annotationPartitionKey    = "x-opt-partition-key"
	annotationViaPartitionKey = "x-opt-via-partition-key"
	annotationEnqueueTime     = "x-opt-scheduled-enqueue-time"
)

// cloudEventPrefix is before the attributes of a CloudEvent in binary mode
// (CloudEvents' AMQP protocol binding, 3.1.3.1).
const cloudEventPrefix = "cloudEvents:"

// maxTTL is the longest time to live of AMQP's header: 32 bits of milliseconds. A longer one is sent as an
// absolute expiry time.
const maxTTL = math.MaxUint32 * time.Millisecond

// message returns the message of the attempt at with the content rendered, and its id.
func (a *action) message(
	at scheduler.Attempt, rendered payload.Message, secrets map[string]any, now time.Time,
) (*azservicebus.AMQPAnnotatedMessage, string) {
	p := &a.properties
	id := messageID(at.Key)
	if p.messageID != nil {
		id = *p.messageID
	}
	m := &azservicebus.AMQPAnnotatedMessage{
		Body:                  azservicebus.AMQPAnnotatedMessageBody{Data: [][]byte{[]byte(rendered.Body)}},
		ApplicationProperties: a.applicationProperties(at, rendered, secrets),
		MessageAnnotations:    p.annotations(now),
		Properties: &azservicebus.AMQPAnnotatedMessageProperties{
			MessageID:      id,
			ContentType:    p.contentType,
			GroupID:        p.sessionID,
			ReplyTo:        p.replyTo,
			ReplyToGroupID: p.replyToSessionID,
			Subject:        p.label,
			To:             p.to,
		},
	}
	if p.correlationID != nil {
		m.Properties.CorrelationID = *p.correlationID
	}
	if p.contentType == nil && rendered.ContentType != "" {
		m.Properties.ContentType = &rendered.ContentType
	}
	if !p.timeToLive.IsZero() {
		setTTL(m, p.timeToLive.AddTo(now), now)
	}
	return m, id
}

// messageID returns the id of a message for an idempotency key: the key
// itself, or one as good that is short enough, however it is counted.
func messageID(key string) string {
	if len(key) <= maxID {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	end := "~" + hex.EncodeToString(sum[:])
	return strings.ToValidUTF8(key[:maxID-len(end)], "") + end
}

// setTTL lets m expire at an instant.
func setTTL(m *azservicebus.AMQPAnnotatedMessage, expiry, now time.Time) {
	ttl := expiry.Sub(now)
	m.Header = &azservicebus.AMQPAnnotatedMessageHeader{TTL: min(ttl, maxTTL)}
	if ttl > maxTTL {
		m.Properties.CreationTime = &now
		m.Properties.AbsoluteExpiryTime = &expiry
	}
}

// annotations returns the annotations of a message that is sent now. It omits a scheduled time in the past, so
// that the message is delivered immediately.
func (p *properties) annotations(now time.Time) map[any]any {
	m := make(map[any]any, 3)
	if p.partitionKey != nil {
		m[annotationPartitionKey] = *p.partitionKey
	}
	if p.viaPartitionKey != nil {
		m[annotationViaPartitionKey] = *p.viaPartitionKey
	}
	if p.scheduledEnqueueTime.After(now) {
		m[annotationEnqueueTime] = p.scheduledEnqueueTime.UTC()
	}
	return m
}

// applicationProperties returns the application properties of a message. The job's values take precedence. All
// messages share the job's map and only read it.
func (a *action) applicationProperties(at scheduler.Attempt, rendered payload.Message, secrets map[string]any) map[string]any {
	fields, traced := payload.FailureFields(at), at.Trace.Parent != "" && !a.givesTrace()
	if len(fields) == 0 && len(rendered.Attributes) == 0 && len(secrets) == 0 && !traced {
		return a.custom
	}
	m := make(map[string]any, len(fields)+len(rendered.Attributes)+len(a.custom)+len(secrets)+traceProperties)
	if traced {
		m[propertyTrace], m[propertyDiagnostic] = at.Trace.Parent, at.Trace.Parent
		if at.Trace.State != "" {
			m[propertyTraceState] = at.Trace.State
		}
	}
	for _, f := range fields {
		m[f.Name] = f.Value
	}
	for _, attribute := range rendered.Attributes {
		m[cloudEventPrefix+attribute.Name] = attribute.Value
	}
	maps.Copy(m, a.custom)
	maps.Copy(m, secrets)
	return m
}

// Application properties with the trace that a receiver continues. Azure's clients set the first two: the W3C
// traceparent, and the same value under its former name, for older receivers.
const (
	propertyTrace      = "traceparent"
	propertyDiagnostic = "Diagnostic-Id"
	propertyTraceState = "tracestate"

	traceProperties = 3
)

// givesTrace reports whether the job sets the trace itself.
func (a *action) givesTrace() bool {
	_, plain := a.custom[propertyTrace]
	_, diagnostic := a.custom[propertyDiagnostic]
	return plain || diagnostic || slices.ContainsFunc(a.secrets, func(s secretProperty) bool {
		return s.name == propertyTrace || s.name == propertyDiagnostic
	})
}

// revealed returns the application properties that are secret; nil for none.
func (a *action) revealed(at scheduler.Attempt) (map[string]any, error) {
	if len(a.secrets) == 0 {
		return nil, nil //nolint:nilnil // none is usual
	}
	m := make(map[string]any, len(a.secrets))
	for _, s := range a.secrets {
		text, err := at.Reveal(s.value)
		if err != nil {
			return nil, err
		}
		m[s.name] = text
	}
	return m, nil
}
