// Package web runs the actions of type Http and Https: one HTTP request for
// each attempt, and a verdict on the answer.
//
// # The request
//
// The method, headers and body are sent as the job gives them; package payload
// says what request.template and request.envelope make of the body. The
// scheduler adds these headers, of which those that begin with x-ms- are Azure
// Scheduler's:
//
//	Idempotency-Key                        the same for every try of one action in one occurrence
//	traceparent                            W3C trace context: one trace for each occurrence, one span for each attempt
//	tracestate                             that of the trace that a run by hand continues, if it has one
//	User-Agent                             Carillon/<version>
//	x-carillon-attempt                     1 for the occurrence's first attempt
//	x-ms-client-request-id                 UUID of the attempt
//	x-ms-execution-tag                     32 hexadecimal digits, the same for every attempt of an occurrence
//	x-ms-scheduler-execution-region        [Config] Region; absent when that is empty
//	x-ms-scheduler-expected-execution-time nominal time, RFC 3339 in UTC
//	x-ms-scheduler-jobid                   the job's name
//
// An errorAction sends x-carillon-failed-status, x-carillon-failed-attempts and
// x-carillon-failed-message too, and the envelope cloudEventsBinary its ce-
// headers. A body without Content-Type gets that of its envelope, or
// application/json when it is valid JSON and text/plain; charset=utf-8
// otherwise.
//
// One rule settles every clash: a header that the job gives itself is sent as
// given, and the scheduler only fills in those that are absent. So a job may
// send its own User-Agent, traceparent, or Idempotency-Key (sane for a job
// that runs once; the target of a recurring job would take every later
// occurrence for a repetition). With its own traceparent no tracestate is sent
// that belongs to another. Headers that frame the message or belong to
// the connection, such as Content-Length, are refused when the job is put, and
// so are those that request.authentication or request.webhook sets.
//
// # What is guaranteed
//
//  1. An attempt sends its request once for each hop. With the default
//     transport a request other than GET, HEAD and OPTIONS is not repeated
//     behind the scheduler's back when a kept-alive connection breaks, unless
//     the host cannot have seen it: repeating is the retry policy's task, and
//     every try is recorded. The one exception is a request whose bearer token
//     was answered with 401: it is sent a second time, once, with a new token.
//  2. An attempt is completed when the status is a success (2xx, or what
//     request.success.status says), the body has arrived, and it contains
//     request.success.bodyContains, if given, elsewhere than in what shows a secret
//     ([scheduler.Attempt] Veiled). The first [scheduler.MaxResponse]
//     bytes are recorded, and no more are kept. A body of more than MaxBody
//     bytes is a failed attempt, so an endless one costs no more than that.
//  3. An attempt ends with its context, requests of tokens included, and
//     leaves no body or goroutine behind, and no connection but an idle one that is kept for the
//     next attempt. (A dial under way is let finish for others, within 10 s.)
//  4. Credentials stay with the host they were given for: see Redirects.
//  5. With [Config] Guard no address that it refuses is connected to, whatever
//     names, redirects or name servers lead there: see package egress. A proxy
//     is not asked for them, nor for names such as localhost.
//
// Not guaranteed: that a target sees a call only once. A call whose answer was
// lost is tried again under the same Idempotency-Key.
//
// # Authentication
//
// request.authentication has a type and its members. The first four are Azure
// Scheduler's (its documentation, Scheduler Outbound Authentication); members
// marked * are secrets.
//
//	NotSpecified
//	Basic                username, password*
//	ClientCertificate    pfx* (PKCS#12 in base64), password*
//	ActiveDirectoryOAuth tenant, audience, clientId, secret*
//	OAuth2               tokenUrl, clientId, secret*, scope, audience, authStyle (header or body)
//
// A client certificate needs an https URI, and is shown to whoever asks for
// one in the TLS handshake. What cannot be opened, or has no certificate with
// its private key, is refused when the job is put; one that has expired is
// not, as its host decides. Answers describe it: certificateThumbprint,
// certificateSubjectName, and certificateExpiration, which is repeated as
// certificateExpirationDate. These are ignored when they are sent in, and
// absent when the certificate is a shared secret.
//
// Tokens are asked for with the client credentials grant (RFC 6749, section
// 4.4): of [Config] LoginEndpoint for ActiveDirectoryOAuth, with the audience
// as the resource, and of tokenUrl for OAuth2. authStyle says whether the
// client authenticates by HTTP Basic (header, the default) or in the form
// (body). A token is shared by all jobs that ask for it with equal members and
// secret, and asked for again before it ends: a tenth of its life, at most 60
// s. A token that does not say how long it lives is used for 5 minutes. Many
// attempts that need one token wait for one request. Redirects of a token
// server are not followed, and 65,536 bytes of its answer are read.
//
// Basic and bearer authentication over plain HTTP are let pass, as inside a
// cluster they are usual; anybody on the way can read them.
//
// # Signing
//
// request.webhook signs requests by Standard Webhooks 1.0, beside any
// authentication. Its members are secret and, while receivers change over,
// previousSecret: each whsec_ and a key of 24 to 64 bytes in base64. The
// headers are
//
//	webhook-id        the same for every try, as Idempotency-Key is when the job does not give its own
//	webhook-timestamp seconds since 1970 at the attempt's beginning
//	webhook-signature v1,<base64 of HMAC-SHA256 over id.timestamp.body>, one for each secret, with a space between
//
// # Secrets
//
// Passwords, keys and tokens of the members above, and the headers named like
// credentials, are written and never shown. [document.IsCredential] says which
// names are: Authorization, Cookie, X-Api-Key, Session-Id and the like, but not
// Idempotency-Key. Each, and the value of any other header but Host, may be
// {"secretRef": "name"} instead, a shared secret that is looked up for each
// attempt. What comes back from a target is recorded without them. The URI is
// no secret, its query included: put keys into headers.
//
// # Redirects
//
// At most request.redirects (0 to 20, default 10) redirects are followed; 0
// makes a 3xx status the answer, and one more than allowed is a failed
// attempt, whatever request.success.status says. 301 and 302 turn a POST into
// a GET, and 303 turns everything but HEAD into one; in all other cases, and
// with 307 and 308 always, method and body stay (RFC 9110, section 15.4). The
// recorded message says how many there were and whether the request became a
// GET, which is signed anew. When a redirect leads to another host or port, or
// from https to http, the job's credentials are dropped for the rest of the
// way: secret headers, authentication, signature and client certificate. A
// host's move from http to https, on the default ports, keeps them.
//
// # Failures
//
// A failed attempt is final, so that by default no retry follows, when
//
//   - the status says so ([scheduler.FinalStatus]: 4xx but 408, 425 and 429)
//     and is not among request.success.status;
//   - a token server says so, by such a status, unless its error is one that
//     passes;
//   - an address is refused, and every other address of the host;
//   - a template cannot be filled in.
//
// All other failures may pass, among them names that are not found,
// certificates that do not fit, redirects that are not followed and shared
// secrets that are not there. How long an answer of 429 or 503 asks to wait
// (Retry-After, or Azure's x-ms-retry-after-ms, at most 24 h) is handed to the
// retry policy.
//
// # Limits
//
// The target of an action, which rules of collections name, is host:port of its
// URI, in lower case and with the port made explicit. Attempts that have not
// reached for it, because of a secret, a certificate, a template, a token server
// or a refused address, and those answered with 501, say nothing about it and do
// not count for its circuit.
package web
