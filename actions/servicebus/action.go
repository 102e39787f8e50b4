package servicebus

import (
	"context"
	"net/http"
	"strings"
	"time"

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
	secrets        []secretProperty // those that are secret
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
	if err := a.client.links.send(ctx, to, m); err != nil {
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
