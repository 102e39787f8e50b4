package natsmsg

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/netreason"
	"github.com/carillon-sched/carillon/actions/pool"
	"github.com/carillon-sched/carillon/scheduler"
)

// action is a compiled message with its destination.
type action struct {
	message

	access access
	client *Client
}

var _ scheduler.SecretDestination = (*action)(nil)

// Target implements [scheduler.Action]: host and port of the first server, or
// "nats" for the scheduler's own connection.
func (a *action) Target() string { return a.access.target() }

// Recipients implements [scheduler.SecretDestination]: any of the servers may be shown the
// secrets, and those in headers, who listens to the subject.
func (a *action) Recipients() []scheduler.Recipient {
	var all []scheduler.Recipient
	if a.access.own() {
		all = append(all, scheduler.Recipient{Address: "the scheduler's own NATS server"})
	}
	for _, server := range a.access.servers {
		all = append(all, scheduler.Recipient{Address: strings.ToLower(server)})
	}
	if len(a.header.secrets) > 0 {
		all = append(all, scheduler.Recipient{Role: "subject", Address: a.subject})
	}
	return all
}

// Invoke implements [scheduler.Action]: it sends the message and judges the
// outcome.
func (a *action) Invoke(ctx context.Context, at scheduler.Attempt) scheduler.Result {
	return a.attempt(ctx, at).By(typeName)
}

func (a *action) attempt(ctx context.Context, at scheduler.Attempt) scheduler.Result {
	start := time.Now()
	fail := func(err error) scheduler.Result {
		f := classify(err)
		if ended := context.Cause(ctx); ended != nil && errors.Is(err, ended) {
			stage, waited := waiting(err)
			f = &actions.Failure{Reason: netreason.Ended(ctx, stage, at.Timeout, time.Since(start)), SkipCircuit: waited}
		}
		f.SkipCircuit = f.SkipCircuit || a.onSubject(err)
		return a.failed(f)
	}
	if a.access.own() {
		for _, subject := range []string{a.subject, a.replyTo} {
			if err := a.client.rules.refuses(subject); err != nil {
				return fail(actions.Invalid(err))
			}
		}
	}
	m, err := a.compose(at)
	if err != nil {
		return fail(err)
	}
	conn, release, err := a.connection(ctx, at)
	if err != nil {
		return fail(err)
	}
	defer release()
	if err := a.client.trespass(conn, a); err != nil {
		return fail(actions.Invalid(err))
	}
	c := &call{subject: m.Subject, replyTo: m.Reply, asks: a.mode != publish}
	watched, end := conn.watch.begin(ctx, c)
	defer end()
	if conn.nc.Status() != nats.CONNECTED {
		return fail(errNotConnected)
	}
	var result scheduler.Result
	switch a.mode {
	case publish:
		result, err = a.publish(watched, conn, m, c)
	case stored:
		result, err = a.store(watched, conn, m)
	case request:
		result, err = a.request(watched, conn, m)
	}
	switch cause := context.Cause(watched); {
	case err == nil:
		return result
	case cause != nil: // more precise than the client's error
		return fail(cause)
	}
	return fail(err)
}

// trespass refuses a subject that is not for jobs on the scheduler's own NATS system, which a job reaches by its address. A job
// with a user that the server requires has the permissions of that user.
func (c *Client) trespass(conn *connection, a *action) error {
	if a.access.own() || c.own == nil || !sameSystem(conn.nc, c.own.nc) || conn.nc.AuthRequired() && a.access.named() {
		return nil
	}
	for _, subject := range []string{a.subject, a.replyTo} {
		if err := c.rules.foreign(subject); err != nil {
			return fmt.Errorf("%w; servers names the scheduler's NATS servers, which do not know who the job is: "+
				"have them ask for a user, and give the job one", err)
		}
	}
	return nil
}

// sameSystem reports whether two connections lead to the same server or cluster.
func sameSystem(a, b *nats.Conn) bool {
	cluster := a.ConnectedClusterName()
	return a.ConnectedServerId() == b.ConnectedServerId() || cluster != "" && cluster == b.ConnectedClusterName()
}

// onSubject reports whether err, on the scheduler's own connection, concerns the subscribers of the message's
// subject: none exists, or none answered in time. All subjects share that connection.
func (a *action) onSubject(err error) bool {
	return a.access.own() && (errors.Is(err, nats.ErrNoResponders) ||
		a.mode == request && errors.Is(err, context.DeadlineExceeded))
}

// errNotConnected is why nothing is sent on a connection that is being opened
// again: the message would wait in memory and go out after the attempt failed.
var errNotConnected = errors.New("not connected to NATS at the moment")

// errNoConn is why a job without servers fails in a process that has no
// connection.
var errNoConn = errors.New("this process has no connection to NATS: the job must name servers")

// connection returns the connection for an attempt. Call release when it is used no
// more.
func (a *action) connection(ctx context.Context, at scheduler.Attempt) (conn *connection, release func(), err error) {
	if a.access.own() {
		if a.client.own == nil {
			return nil, nil, actions.Invalid(errNoConn)
		}
		return a.client.own, func() {}, nil
	}
	who, err := a.access.reveal(at)
	if err != nil {
		return nil, nil, actions.Unready(err)
	}
	lease, err := a.client.pool.Get(ctx, who.key(), func() (*connection, error) {
		return &connection{watch: newWatch(""), connect: func(ctx context.Context, w *watch) (*nats.Conn, error) {
			return a.client.connect(ctx, who, w)
		}}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return lease.Conn, lease.Release, nil
}

// waiting reports whether err is that an attempt ended while it waited for room
// in the pool, and at which stage that is.
func waiting(err error) (stage string, ok bool) {
	if w, ok := errors.AsType[*pool.WaitError](err); ok && w.Full {
		return "while all connections to jobs' own servers were in use", true
	}
	return "", false
}

// publish sends the message. A response to the flush proves that the server accepted it.
func (a *action) publish(ctx context.Context, conn *connection, m *nats.Msg, c *call) (scheduler.Result, error) {
	err := conn.nc.PublishMsg(m)
	if err == nil {
		err = conn.nc.FlushWithContext(ctx)
	}
	if err == nil {
		err = conn.watch.refusal(ctx, conn.nc, c)
	}
	return scheduler.Result{
		Status:  http.StatusAccepted,
		Summary: fmt.Sprintf("Published to subject '%s'", a.subject),
	}, err
}

// store sends the message to JetStream and waits until it is stored.
func (a *action) store(ctx context.Context, conn *connection, m *nats.Msg) (scheduler.Result, error) {
	ack, err := conn.js.PublishMsg(ctx, m)
	switch {
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return scheduler.Result{}, noStream(ctx, conn, a.subject)
	case err != nil:
		return scheduler.Result{}, err
	case ack.Duplicate:
		return scheduler.Result{
			Status:  http.StatusOK,
			Summary: fmt.Sprintf("Subject '%s': stream '%s' has the message already, at sequence %d", a.subject, ack.Stream, ack.Sequence),
		}, nil
	}
	return scheduler.Result{
		Status:  http.StatusCreated,
		Summary: fmt.Sprintf("Subject '%s': stored in stream '%s' at sequence %d", a.subject, ack.Stream, ack.Sequence),
	}, nil
}

// lookupTimeout limits the lookup of the stream of a subject.
const lookupTimeout = 2 * time.Second

// noStream finds out why no stream stored the message: no stream has the subject, or its stream has no leader.
func noStream(ctx context.Context, conn *connection, subject string) error {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	name, err := conn.js.StreamNameBySubject(ctx, subject)
	switch {
	case err == nil:
		return ofPart(http.StatusServiceUnavailable, fmt.Sprintf("stream '%s' has no leader at the moment", name))
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return ofPart(http.StatusNotFound, "no stream takes this subject")
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabled),
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return actions.Answered(http.StatusServiceUnavailable, "JetStream is off on the server, or for the account")
	}
	return actions.Answered(http.StatusServiceUnavailable, "no stream has answered")
}

// request sends the message and reads the first response.
func (a *action) request(ctx context.Context, conn *connection, m *nats.Msg) (scheduler.Result, error) {
	reply, err := conn.nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		return scheduler.Result{}, err
	}
	if n := reply.Size() - len(reply.Subject) - len(reply.Reply) - len(reply.Data); n > maxHeaders {
		text := fmt.Sprintf("the answer has headers of %d bytes, at most %d are read", n, maxHeaders)
		return scheduler.Result{}, ofPart(http.StatusBadGateway, text)
	}
	result, verdict := scheduler.Result{Status: http.StatusOK}, "OK"
	if f := judgeReply(reply.Header); f != nil {
		f.SkipCircuit = a.access.own() || f.Status == http.StatusNotImplemented
		result, verdict = f.Result(""), f.Reason
	}
	result.Summary = fmt.Sprintf("Response from subject '%s': '%s'", a.subject, verdict)
	result.Response = excerpt(reply.Data)
	result.Message = typeName + " Action - " + result.Summary + " Body: " + result.Response
	return result, nil
}

// failed is the result of an attempt that came to nothing.
func (a *action) failed(f *actions.Failure) scheduler.Result {
	what := map[mode]string{publish: "Publish", stored: "JetStream publish", request: "Request"}[a.mode]
	where := ""
	if !a.access.own() {
		where = " on " + strings.Join(a.access.servers, ", ")
	}
	return f.Result(fmt.Sprintf("%s to subject '%s'%s failed: %s", what, a.subject, where, f.Reason))
}
