// Package tracing creates OpenTelemetry spans for the path from a request to the target of its job. It depends on
// OpenTelemetry's API only: the creator of a [Tracer] decides where spans go.
//
//  1. A request over HTTP or NATS, or a published spec, continues its incoming trace or starts one. Its effect on a
//     baton is a child span, arm or fire.
//  2. Each scheduled occurrence is a separate trace, because a job may run for years. It links to the request that last
//     edited the job. A manual run belongs to the trace of its request.
//  3. Each delivery of an occurrence's baton is a span: "occurrence" for the first and, below it, "retry" or
//     "errorAction", with a link to the first attempt. Their children are "hold", until the due time, and "attempt",
//     whose context is passed to the target.
//  4. Spans contain names, IDs, times and codes. Of user and target data, they contain only the names of jobs and
//     hosts: no header, path, query, body or message.
//  5. Malformed incoming trace contexts are ignored.
//
// A nil [Tracer] traces nothing: its methods cost one comparison and no allocation. Attribute names follow the imported
// version of the semantic conventions; others begin with "carillon.".
package tracing
