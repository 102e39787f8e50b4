// Package rest is the scheduler's HTTP API. The rows of the table of operations ([api.Operations]) define its routes,
// and GET /openapi.json describes them ([OpenAPI]).
//
//	request ──► host ──► route ──► caller, right ──► options, condition ──► service ──► view ──► JSON
//	            421      404, 405  401, 403, 429     400                  412, 409       304
//
// The routes have four forms:
//
//	/jobCollections, /jobs, /history, …   the short paths, for the default scope
//	/subscriptions/{s}/resourceGroups/…   Azure's resource manager: the same operations in its form
//	/api/v2/…                             schedules in the form of AWX (package awx)
//	/healthz, /readyz, /metrics, …        the process
//
// [New] returns the handler and [Config] configures it. The [http.Server] sets the timeouts of reads and idle
// connections.
//
// # Azure's resource manager
//
// The operations below /jobCollections are also available below the path of a resource group, in any letter case of its
// fixed parts:
//
//	/subscriptions/{s}/resourceGroups/{g}/providers/Microsoft.Scheduler/jobCollections…
//
// In addition, clients of Azure Scheduler use these requests of the resource manager:
//
//	GET    /subscriptions, /subscriptions/{s}         those that have collections; any
//	GET    /subscriptions/{s}/resourceGroups[/{g}]    the same for groups; HEAD of one is 204
//	PUT    /subscriptions/{s}/resourceGroups/{g}      stores nothing
//	DELETE /subscriptions/{s}/resourceGroups/{g}      409 while it has collections
//	GET    /subscriptions/{s}/providers[/Microsoft.Scheduler]
//	POST   /subscriptions/{s}/providers/Microsoft.Scheduler/register
//	GET    /subscriptions/{s}/providers/Microsoft.Scheduler/jobCollections
//
// They require api-version. Ids and names are those of the resource manager, with the names of collections within their
// scope ([scheduler.Scope]). Run, enable and disable of a collection have an empty answer. Live tails exist at the
// short paths only.
//
// # Contract
//
//  1. Success is 200, 201 for a created object, or 204 for a deleted schedule. The
//     answer to a delete is empty. Other answers are JSON in the form of Azure
//     Scheduler 2016-03-01.
//  2. An error is {"error": {"code", "message", "details": [{"path", "message"}]}}
//     with the status and code of [v1.Error]; details has each problem of the
//     input. HTTP adds 404 UnknownRoute, 405 MethodNotAllowed (with Allow), 413
//     RequestTooLarge, 415 UnsupportedMediaType and 403 CrossOrigin. 503 has
//     Retry-After. The text of a defect (500) is only logged. The paths of AWX
//     report errors like AWX: {"rrule": ["message", …]} by field, or
//     {"detail": "message"}.
//  3. Bodies are JSON or YAML, distinguished by their first character and not by
//     Content-Type; on the paths of AWX, JSON. XML is 415. A body over 16 KB is
//     413, with its size up to 1 MB.
//  4. A received edit is carried out even if its client disconnects.
//  5. A page has up to 100 entries ($top: 1 to 100). nextLink is the URL of the
//     next page, or null. A page begins after a name or before a record
//     ($skiptoken), regardless of concurrent changes. A page of a history may end
//     early.
//  6. A live tail is NDJSON (application/x-ndjson): one record per line, as in the
//     history, for each record after the sequence in its header Carillon-Sequence
//     (parameter after). An empty line every 15 seconds is a keepalive. The tail
//     ends with the client, with the context of the server, or with a line
//     {"end": …} after the job's deletion ([v1.NewEnd]). A client that reads
//     nothing for ten seconds is disconnected. $filter applies. As server-sent
//     events, each event has a record and its sequence as id; Last-Event-ID
//     resumes after that record; keepalives are comments; the event "end" ends
//     the tail; and the event "gap" reports that the position is no longer
//     retained ([v1.HistoryGap]). NDJSON reports that in the header
//     Carillon-First-Sequence.
//  7. Each answer has an x-ms-request-id, which the log repeats. An unsupported
//     query parameter or document is 400 with its name; the paths of AWX ignore
//     it. The parameter api-version has no effect on the short paths. The answer
//     repeats the headers x-ms-correlation-request-id and
//     x-ms-client-request-id.
//  8. Neither an answer nor the log contains a secret. Jobs are returned without
//     theirs, shared secrets without their value.
//  9. A page of another origin cannot make a browser change anything
//     ([http.CrossOriginProtection]).
//  10. [Config.Identify] authenticates the caller; by default, any caller has full
//     access. Each operation requires a right (package auth). A caller without
//     it gets 401 AuthenticationFailed with WWW-Authenticate (RFC 6750), or 403
//     AuthorizationFailed with the missing role, before the request is read.
//     Lists and histories over all collections contain what the caller may see;
//     other objects are not found by their id. /healthz, /readyz, /openapi.json
//     and the schemas are open.
//
// # Puts and patches
//
// The answer is the job with "result" (created, updated or unchanged) and, if there are any, "warnings": [{"path",
// "message"}]. With strict, warnings are the details of a 400. With dryRun, the request is checked and nothing is
// stored. The answer is then 200 with the resulting job and "dryRun": {"nextRuns": […], "notes": […], "nextRunsBefore":
// […], "changes": [{"path", "before", "after"}]} ([v1.DryRun]). A put or patch of a collection has a result and
// supports dryRun, too; its "dryRun" has the changes.
//
// # Conditions
//
// An answer with a job or a collection has its ETag ([scheduler.Job.ETag]); the documents of a list contain theirs.
// GET, and requests that change a job or a collection, including run, support If-Match and If-None-Match (RFC 9110,
// section 13; [scheduler.Condition]). A failed condition is 412 PreconditionFailed with the current ETag, or 304. Other
// changes refuse conditions with 400. The condition is checked atomically with the change: of two requests with the
// same ETag, one fails with 412.
package rest
