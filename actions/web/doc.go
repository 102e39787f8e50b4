// Package web runs the actions of type Http and Https: one HTTP request per attempt, and a verdict on the response.
//
// # Request
//
// The method, headers and body are sent as in the job; package payload explains the effects of request.template and
// request.envelope on the body. The scheduler adds these headers; those that begin with x-ms- are Azure Scheduler's:
//
//	Idempotency-Key                        the same for every attempt of one action in one occurrence
//	traceparent                            W3C trace context: one trace per occurrence, one span per attempt
//	tracestate                             of the trace that a manual run continues, if it has one
//	User-Agent                             Carillon/<version>
//	x-carillon-attempt                     1 for the occurrence's first attempt
//	x-ms-client-request-id                 UUID of the attempt
//	x-ms-execution-tag                     32 hexadecimal digits, the same for every attempt of an occurrence
//	x-ms-scheduler-execution-region        [Config] Region; omitted if empty
//	x-ms-scheduler-expected-execution-time nominal time, RFC 3339 in UTC
//	x-ms-scheduler-jobid                   the job's name
//
// An errorAction also sends x-carillon-failed-status, x-carillon-failed-attempts and x-carillon-failed-message, and the
// envelope cloudEventsBinary its ce- headers. A body without Content-Type gets that of its envelope, or application/json
// if it is valid JSON, else text/plain; charset=utf-8.
//
// Headers of the job take precedence: the scheduler adds only missing headers. So a job can set its own User-Agent,
// traceparent (the scheduler then omits tracestate) or Idempotency-Key. The last one is useful only for a job that runs
// once: the target of a recurring job would treat later occurrences as repetitions. Headers that frame the message or
// belong to the connection, such as Content-Length, are refused when the job is put, and so are those that
// request.authentication or request.webhook sets.
//
// # Guarantees
//
//  1. An attempt sends its request once per hop. With the default transport, a request other than GET, HEAD and OPTIONS
//     is not silently repeated when a kept-alive connection breaks, unless the host cannot have seen it: retries belong
//     to the retry policy, which records every attempt. One exception: a request whose bearer token was answered with
//     401 is sent once more with a new token.
//  2. An attempt is completed if the status is a success (2xx, or request.success.status), the body has arrived, and it
//     contains request.success.bodyContains, if set, outside of the parts that show a secret ([scheduler.Attempt]
//     Veiled). The first [scheduler.MaxResponse] bytes are recorded, and no more are kept. A body of more than MaxBody
//     bytes fails the attempt, so an endless body costs no more than that.
//  3. An attempt, including token requests, ends with its context. It leaves no body or goroutine behind, and no
//     connection except an idle one for the next attempt. (Over TLS or a proxy, a dial in progress continues for others,
//     for up to 10s.)
//  4. Credentials are sent only to the host they belong to: see Redirects.
//  5. With [Config] Guard, no connection leads to a refused address, whatever names, redirects or name servers say: see
//     package egress. A proxy is not asked for such addresses, nor for names such as localhost.
//
// Not guaranteed: exactly-once calls. A call whose response was lost is retried with the same Idempotency-Key.
//
// # Authentication
//
// request.authentication has a type and its fields. The first four types are Azure Scheduler's (its documentation,
// Scheduler Outbound Authentication); fields marked * are secrets.
//
//	NotSpecified
//	Basic                username, password*
//	ClientCertificate    pfx* (PKCS#12 in base64), password*
//	ActiveDirectoryOAuth tenant, audience, clientId, secret*
//	OAuth2               tokenUrl, clientId, secret*, scope, audience, authStyle (header or body)
//
// A client certificate needs an https URI, and is presented to any server that requests one. An unreadable file, or one
// without a certificate and its private key, is refused when the job is put. An expired certificate is accepted: its host
// decides. Responses of the API describe it in certificateThumbprint, certificateSubjectName, certificateExpiration and
// its copy certificateExpirationDate. Requests ignore these fields; shared secrets omit them.
//
// Tokens come from the client credentials grant (RFC 6749, section 4.4): from [Config] LoginEndpoint for
// ActiveDirectoryOAuth, with the audience as the resource, and from tokenUrl for OAuth2. authStyle selects HTTP Basic
// (header, the default) or the form (body) for the client's credentials. Jobs with equal fields and secret share a token.
// It is renewed before it expires: a tenth of its lifetime earlier, at most 60s. A token without expires_in is used for 5
// minutes. Attempts that need the same token wait for one request. Redirects of a token server are not followed, and at
// most 65,536 bytes of its response are read.
//
// Basic and bearer authentication over plain HTTP is allowed, because it is common within clusters. Others on the path
// can read the credentials.
//
// # Signing
//
// request.webhook signs requests by Standard Webhooks 1.0, in addition to any authentication. Its fields are secret and,
// for rotation, previousSecret: each whsec_ and a key of 24 to 64 bytes in base64. The headers are
//
//	webhook-id        the same for every attempt: the Idempotency-Key that the scheduler generates
//	webhook-timestamp seconds since 1970 at the attempt's start
//	webhook-signature v1,<base64 of HMAC-SHA256 over id.timestamp.body>, one per secret, separated by a space
//
// # Secrets
//
// Passwords, keys and tokens of the fields above, and headers named like credentials, are write-only.
// [document.IsCredential] recognizes names such as Authorization, Cookie, X-Api-Key and Session-Id, but not
// Idempotency-Key. Each secret, and the value of any header except Host, can be {"secretRef": "name"}, a shared secret
// that is looked up for each attempt. Secrets are removed from recorded responses. The URI is not a secret, nor is its
// query: put keys into headers.
//
// # Redirects
//
// At most request.redirects (0 to 20, default 10) redirects are followed. With 0, a 3xx status is the response; exceeding
// another limit fails the attempt, whatever request.success.status says. 301 and 302 turn a POST into a GET, and 303 turns
// everything except HEAD into one; otherwise, and always with 307 and 308, method and body stay (RFC 9110, section 15.4).
// The recorded message has the number of redirects, and whether the request became a GET, which is signed again.
//
// If a redirect leads to another host or port, or from https to http, the job's credentials are dropped for the rest of
// the chain: secret headers, authentication, signature and client certificate. A move of the same host from http to https,
// on the default ports, keeps them.
//
// # Failures
//
// A failed attempt is final, so that by default no retry follows, if
//
//   - its status is final ([scheduler.FinalStatus]: 4xx except 408, 425 and 429) and not in request.success.status;
//   - the token server's status is final, and its error is not transient;
//   - every address of the host is refused;
//   - a template cannot be rendered.
//
// All other failures can be transient, among them unknown names, mismatched certificates, redirects that are not followed
// and missing shared secrets. The wait that a 429 or 503 requests (Retry-After, or Azure's x-ms-retry-after-ms, at most
// 24h) is passed to the retry policy.
//
// # Circuit breaker
//
// The target of an action, which collection rules name, is host:port of its URI, in lower case and with an explicit port.
// Attempts that did not reach the target (because of a secret, a certificate, a template, a token server or a refused
// address) and those answered with 501 do not count for its circuit breaker.
package web
