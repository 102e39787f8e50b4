// Package natsmsg runs the actions of type NatsMessage: one NATS message for
// each attempt, and a verdict on what becomes of it.
//
//	"action": {"type": "natsMessage", "natsMessage": {
//	  "mode": "publish",            or jetstream, or request
//	  "subject": "orders.new",
//	  "message": "…",               with template, envelope and cloudEvent as in all actions
//	  "headers": {"X-Shop": "north"},
//	  "replyTo": "orders.done",     publish only
//	  "expectStream": "ORDERS",     jetstream only
//	  "timeToLive": "PT1H",         jetstream only; the stream must allow it
//	  "servers": ["tls://nats.example.com"],
//	  "credentials": "…"            or token, or user with password
//	}}
//
// # The modes
//
// publish succeeds (status 202) when the server has taken the message and not
// refused it. Whether anybody listens is not known.
//
// jetstream succeeds (201) when a stream has stored the message, and also
// (200) when it has one of that Nats-Msg-Id already. That no stream takes the
// subject is a final 404, if the server says so: while a stream has no leader
// it is a 503. Other refusals have the status that JetStream gives them; a
// message too large for a stream is a final 413.
//
// request succeeds (200) with the first answer that has neither the error
// headers of a NATS micro service (Nats-Service-Error-Code,
// Nats-Service-Error) nor a Status of 400 or above; the beginning of the
// answer is recorded. An error's code is the status of the attempt, 500 if it
// is none of HTTP's, and Retry-After in seconds is heeded. Without a subscriber
// the attempt fails at once with 503.
//
// # The message
//
// The scheduler adds these headers. A header that the job gives itself, in
// whatever letter case, is sent as given.
//
//	Nats-Msg-Id                   the same for every try of one action in one occurrence
//	Carillon-Job                  collection/job
//	Carillon-Occurrence           collection/job@nominal time
//	Carillon-Attempt              1 for the occurrence's first attempt
//	traceparent                   W3C trace context: one trace for each occurrence, one span for each attempt
//	tracestate                    that of the trace that a run by hand continues, if it has one
//	x-carillon-failed-…           of an errorAction: what failed (see payload.FailureFields)
//	Nats-Expected-Stream, -TTL    expectStream and timeToLive
//	content-type                  of a CloudEvent in structured mode
//	ce-…                          the attributes of a CloudEvent in binary mode
//
// Headers named like credentials ([document.IsCredential]) are secrets: written
// and never shown. The value of any may be {"secretRef": "name"}, a shared
// secret that is looked up for each attempt.
//
// Other headers that begin with Nats- tell servers what to do, such as to
// publish traces to any subject, and are refused. CloudEvents follow the NATS
// protocol binding 1.0.3, whose binary mode is that of HTTP, with the data's
// type in ce-datacontenttype: version 1.0.2 was written before NATS had headers.
//
// # What is guaranteed
//
//  1. A message that the server refuses for want of permission is a failed
//     attempt (403, final) in every mode, at once, also among many that it lets
//     pass. So is one larger than the server takes (413, final).
//  2. A message on the scheduler's own connection goes to no subject of the
//     scheduler (Prefix), of one with the default prefix (carillon), of NATS
//     (the first token begins with $ or _), or beside Allow, and asks nobody to
//     answer there. That is checked when a job is put and again at each attempt,
//     because settings change. What other schedulers of the same account have
//     for prefixes is not known here: where there are some, Allow must leave
//     their subjects out, or their jobs can be changed by a message.
//     The same holds on a connection of the job's own to the same server or
//     cluster, unless the server asks who connects and the job has a user, a
//     token or credentials there.
//  3. An attempt fails when its connection breaks. On the scheduler's
//     connection nothing is sent while it is being opened again; a connection
//     to a job's own servers is opened anew by the next attempt.
//  4. An attempt ends with its context, and leaves nothing behind but the
//     connection, which others use. [Client.Close] ends those.
//  5. Connections to jobs' own servers are dialled through Guard, to the
//     servers named, in their order, and not to those that they name in turn. At
//     most MaxConns are open; with all in use, attempts wait. Certificates are
//     checked; credentials are sent unencrypted only to a server without TLS
//     that is not given as tls or wss.
//  6. A job's own server may send lines and headers of at most 64 KiB, messages of
//     at most 8 MiB. This package ends its connection before the client sees more.
//     An answer on the scheduler's own connection with more headers fails the
//     attempt (502).
//
// Not guaranteed: that a message is sent once. One whose acknowledgement was
// lost is sent again under the same Nats-Msg-Id, which a stream drops within
// its duplicate window (2 minutes unless it is configured).
//
// # Limits
//
// The target of an action, which rules of collections name, is nats on the
// scheduler's own connection, and host:port of the first of the job's own
// servers. Its circuit does not count attempts that have not reached for it,
// because of a secret, a template, a refused subject or address, or connections
// that were all in use; nor what a stream answers about itself, such as that it
// is full. On the scheduler's own connection, which serves all subjects, an
// answer, no answer or nobody there to answer says nothing about it either: what
// counts is that it was lost, or has not taken the message.
package natsmsg
