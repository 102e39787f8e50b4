package servicebus

import (
	"regexp"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// maxEntity is how many characters the path of a queue or topic may have
// (Service Bus' limit).
const maxEntity = 260

// entityPattern are the paths of queues and topics. Others exist, such as
// $management and those of subscriptions' dead letters, that nothing can be
// sent to.
var entityPattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._~/-]*[A-Za-z0-9_])?$`)

// readAction reads an action of kind k and reports every problem; it returns
// nil when there was one.
func (c *Client) readAction(k kind, o *document.Object) scheduler.Action {
	a := &action{kind: k, client: c}
	ok := payload.ReadMember(o, k.member, func(mo *document.Object) {
		a.namespace = c.readNamespace(mo)
		a.entity = readEntity(mo, k)
		mo.Enum("transportType", "notSpecified", "netMessaging", "AMQP")
		a.authentication = readAuthentication(mo, c.config.KeyOptional)
		a.content = payload.Read(o, mo, payload.Rules{
			Member:    "message",
			Envelopes: []payload.Envelope{payload.CloudEvents, payload.CloudEventsBinary},
		})
		a.properties = readProperties(mo)
		a.custom, a.secrets = readCustom(mo)
	})
	if !ok {
		return nil
	}
	return a
}

func (c *Client) readNamespace(o *document.Object) namespace {
	o.Require("namespace")
	text, ok := o.String("namespace")
	if !ok {
		return namespace{}
	}
	n, err := readNamespace(text, c.config.Endpoints)
	if err != nil {
		o.Problem("namespace", "%v", err)
	}
	return n
}

// readEntity reads the path of the queue or topic.
func readEntity(o *document.Object, k kind) string {
	o.Require(k.entity)
	path, ok := o.String(k.entity)
	n := utf8.RuneCountInString(path)
	switch {
	case !ok:
	case n > maxEntity:
		o.Problem(k.entity, "is %d characters long, at most %d are allowed", n, maxEntity)
	case !entityPattern.MatchString(path):
		o.Problem(k.entity, "is not the path of a %s: letters, digits and . - _ ~ / are allowed, with a letter or digit at either end",
			k.noun)
	}
	return path
}
