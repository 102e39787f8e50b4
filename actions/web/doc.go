// Package web runs the actions of type Http and Https: one HTTP request for
// each attempt, and a verdict on the answer.
//
// # The request
//
// The method, headers and body are sent as the job gives them. The scheduler
// adds these headers (reference: azure-scheduler.md, 2.7 and the choices
// table):
//
//	Idempotency-Key                        the same for every try of one action in one occurrence
//	traceparent                            W3C trace context: one trace for each occurrence, one span for each attempt
//	User-Agent                             Carillon/<version>
//	x-carillon-attempt                     1 for the occurrence's first attempt
//	x-ms-client-request-id                 UUID of the attempt
//	x-ms-execution-tag                     32 hexadecimal digits, the same for every attempt of an occurrence
//	x-ms-scheduler-execution-region        [Config] Region; absent when that is empty
//	x-ms-scheduler-expected-execution-time nominal time, RFC 3339 in UTC
//	x-ms-scheduler-jobid                   the job's name
//
// A body without Content-Type gets application/json when it is valid JSON and
// text/plain; charset=utf-8 otherwise.
//
// One rule settles every clash: a header that the job gives itself is sent as
// given, and the scheduler only fills in those that are absent. So a job may
// send its own User-Agent, traceparent, or Idempotency-Key (sane for a job
// that runs once; the target of a recurring job would take every later
// occurrence for a repetition). Headers that frame the message or belong to
// the connection, such as Content-Length, are refused when the job is put.
//
// # What is guaranteed
//
//  1. An attempt sends its request once for each hop. With the default
//     transport a request other than GET, HEAD and OPTIONS is not repeated
//     behind the scheduler's back when a kept-alive connection breaks, unless
//     the host cannot have seen it: repeating is the retry policy's task, and
//     every try is recorded.
//  2. An attempt is completed when the status is a success (2xx, or what
//     request.success.status says), the body has arrived, and it contains
//     request.success.bodyContains, if given. Only the first MaxBody bytes of
//     a body are looked at; of these, [scheduler.MaxResponse] are recorded.
//     What is longer is cut and its connection closed, so an endless body
//     costs no more than that.
//  3. An attempt ends with its context or after [scheduler.Attempt] Timeout,
//     whichever is first, and leaves no body or goroutine behind, and no
//     connection but an idle one that is kept for the next attempt. (A dial
//     under way is let finish for others, within 10 s.)
//  4. Credentials stay with the host they were given for: see Redirects.
//
// Not guaranteed: that a target sees a call only once. A call whose answer was
// lost is tried again under the same Idempotency-Key.
//
// # Redirects
//
// At most request.redirects (0 to 20, default 10) redirects are followed; 0
// makes a 3xx status the answer, and one more than allowed is a failed
// attempt, whatever request.success.status says. 301 and 302 turn a POST into
// a GET, and 303 turns everything but HEAD into one; in all other cases, and
// with 307 and 308 always, method and body stay (RFC 9110, section 15.4). The
// recorded message says how many there were and whether the request became a
// GET. When a redirect leads to another host or port, or from https to http,
// the job's credentials are dropped: Authorization, Cookie, and every header
// whose name ends in key, token, secret, password or signature. A host's move
// from http to https, on the default ports, keeps them.
package web
