package protocol

import (
	"cmp"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/fault"
)

// How many answers, and bytes of them, may wait for credit on a link before it is detached.
const (
	maxReplies    = 1000
	maxReplyBytes = 8 << 20
)

// A node answers requests: "$cbs", or the "$management" of an entity. It is the sink of the link that requests come on.
type node struct {
	conn   *conn
	entity string // that is managed; empty for "$cbs"
	answer func(*request) response
}

// A request is one message to a node.
type request struct {
	conn       *conn
	via        *session // that it came in
	entity     string
	txn        []byte
	operation  string
	properties amqp.Properties
	parameters amqp.Map // the application properties
	value      any      // the body
	body       amqp.Map // the body if it is a map
}

// A response goes back to where the request says.
type response struct {
	code        int32
	description string
	condition   amqp.Symbol
	body        amqp.Map
	receipt     broker.Receipt // the write to wait for
}

// take responds to the request, or refuses a message that is not a request.
func (n node) take(d *inDelivery) {
	m, err := amqp.ParseMessage(d.payload)
	if err != nil {
		d.end(undecodable(err))
		return
	}
	r := &request{
		conn: n.conn, via: d.link.session, entity: n.entity, txn: d.txn,
		properties: m.Properties(), parameters: m.ApplicationProperties(),
	}
	r.value, _ = m.Value()
	r.body, _ = r.value.(amqp.Map)
	r.operation, _ = r.parameters.Get("operation").(string)
	d.answer(amqp.Accepted{})
	if n.entity == "" {
		r.reply(n.answer(r))
		return
	}
	n.conn.guard(n.entity, fault.OpManage, func(err error) {
		if err != nil {
			r.reply(failure(err))
			return
		}
		answer := n.answer(r)
		n.conn.finish(answer.receipt, nil, func(err error) {
			if err != nil {
				answer = failure(err)
			}
			r.reply(answer)
		})
	})
}

func (node) release() {}

// answering returns the link for the answer: the link that the request names, in its own session if several have the
// name, or, because Python's clients name none, the first link of the same session from the same node; nil if none
// exists.
func (r *request) answering() *outgoing {
	named := func(link *outgoing) bool { return slices.Contains(link.addresses, r.properties.ReplyTo) }
	if r.properties.ReplyTo != "" {
		if link := r.fromNode(named); link != nil {
			return link
		}
		if link := r.conn.replies[r.properties.ReplyTo]; link != nil {
			return link
		}
	}
	return r.fromNode(func(*outgoing) bool { return true })
}

// fromNode returns the first link of the request's session that comes from the node and is fit, or nil.
func (r *request) fromNode(fit func(*outgoing) bool) (first *outgoing) {
	for handle, l := range r.via.links {
		link, ok := l.(*outgoing)
		if !ok {
			continue
		}
		feed, ok := link.feed.(*replyFeed)
		if ok && strings.EqualFold(feed.entity, r.entity) && fit(link) && (first == nil || handle < first.handle) {
			first = link
		}
	}
	return first
}

// audience is the resource of a token.
func (r *request) audience() string {
	name, _ := r.parameters.Get("name").(string)
	return name
}

// reply sends the answer.
func (r *request) reply(answer response) {
	c := r.conn
	if answer.condition != "" {
		c.explain(r.operation, cmp.Or(r.entity, r.audience()), &amqp.Error{Condition: answer.condition, Description: answer.description})
	}
	link := r.answering()
	if link == nil {
		c.log.Debug("no link takes the answer", slog.String("operation", r.operation), slog.String("address", r.properties.ReplyTo))
		return
	}
	correlation := r.properties.MessageID
	if correlation == nil {
		correlation = r.properties.CorrelationID
	}
	raw := amqp.AppendProperties(nil, amqp.Properties{CorrelationID: correlation})
	raw = amqp.AppendApplicationProperties(raw, answer.parameters())
	raw = amqp.AppendValue(raw, answer.body)
	if feed, ok := link.feed.(*replyFeed); ok {
		feed.push(link, raw)
	}
}

// parameters are the application properties of an answer. Clients differ in which spelling they look at.
func (a response) parameters() amqp.Map {
	parameters := amqp.Map{
		{Key: "statusCode", Value: a.code},
		{Key: "status-code", Value: a.code},
		{Key: "statusDescription", Value: a.description},
		{Key: "status-description", Value: a.description},
	}
	if a.condition != "" {
		parameters = append(parameters, amqp.Pair{Key: "errorCondition", Value: a.condition})
	}
	return parameters
}

// A replyFeed holds the answers that wait for credit.
type replyFeed struct {
	entity  string // whose node answers; empty for "$cbs"
	waiting [][]byte
	size    int
}

func (f *replyFeed) push(link *outgoing, raw []byte) {
	if len(f.waiting) >= maxReplies || f.size > maxReplyBytes {
		link.detach(amqp.Errorf(broker.ResourceLimitExceeded, "too many answers wait for credit"))
		return
	}
	f.waiting = append(f.waiting, raw)
	f.size += len(raw)
	link.session.conn.ready.add(link)
}

func (f *replyFeed) next([]byte) (outMessage, bool, error) {
	if len(f.waiting) == 0 {
		return outMessage{}, false, nil
	}
	raw := f.waiting[0]
	f.waiting[0] = nil
	f.size -= len(raw)
	f.waiting = f.waiting[1:]
	return outMessage{payload: raw}, true, nil
}

func (*replyFeed) settle(d *outDelivery, _ amqp.State) { d.answer(amqp.Accepted{}) }

func (f *replyFeed) release() { f.waiting = nil }

// maxTokens limits the paths for which a connection has tokens.
const maxTokens = 10_000

// cbs answers a request to "$cbs": it takes a token for an entity.
func (r *request) cbs() response {
	if r.operation != "put-token" {
		return response{code: http.StatusNotImplemented, description: "The operation is not supported.", condition: condNotImplemented}
	}
	audience, _ := r.parameters.Get("name").(string)
	token, _ := r.value.(string)
	grant, until, err := r.conn.server.config.Keys.Token(token, audience, time.Now())
	if err != nil {
		return response{code: http.StatusUnauthorized, description: err.Error(), condition: condUnauthorized}
	}
	path := broker.TargetName(audience)
	entity, _ := nodePath(path)
	if entity != "" && !r.conn.server.config.Broker.Exists(entity) {
		return failure(broker.ErrNotFound(entity))
	}
	return r.conn.keep(path, permit{grant.Rights, until})
}

// A permit is the set of rights on a path and the paths below it.
type permit struct {
	rights auth.Rights
	until  time.Time
}

// keep takes note of a permit.
func (c *conn) keep(path string, given permit) response {
	path = auth.Path(path)
	if _, ok := c.tokens[path]; !ok && len(c.tokens) >= maxTokens {
		return failure(amqp.Errorf(broker.ResourceLimitExceeded, "too many tokens on one connection"))
	}
	c.tokens[path] = given
	return response{code: http.StatusAccepted, description: "Accepted"}
}
