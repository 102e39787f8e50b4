// Package tracing tells OpenTelemetry of what happens between a request and the
// target of its job. It knows OpenTelemetry's API alone: who makes a [Tracer] says
// where spans go.
//
//  1. A request, over HTTP or NATS, and a published spec continue the trace that
//     they come with, or begin one. What it does to a baton is a span below: arm
//     or fire.
//  2. Each occurrence of a schedule is a trace of its own, with a link to the
//     request that last edited its job: a job may run for years. A run by hand
//     belongs to the trace of its request.
//  3. An occurrence is one span for each delivery of its baton: "occurrence" for
//     the first, and below that "retry" and "errorAction", with a link to the
//     first attempt. Below each are "hold", until the instant, and "attempt",
//     whose context the target gets.
//  4. Spans have names, ids, times and codes, and nothing that a user or a target
//     wrote but the names of jobs and hosts: no header, path, query, body or
//     message.
//  5. What comes from outside is believed as far as it is well formed, and else is
//     as if it had not come.
//
// A nil [Tracer] traces nothing. Its methods cost a comparison then, and allocate
// nothing. Names of attributes are those of the semantic conventions in the version
// that is imported here; others begin with "carillon.".
package tracing
