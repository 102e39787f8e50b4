// Package rest is the scheduler's HTTP API, with short paths:
//
//	GET    /jobCollections                            all collections
//	PUT    /jobCollections/{c}                        create (201) or replace (200) one; without a body, the defaults; ?dryRun=true|false
//	GET    /jobCollections/{c}
//	PATCH  /jobCollections/{c}                        merge into its settings (RFC 7396)
//	DELETE /jobCollections/{c}                        with all its jobs; 409 while it has any with ?onlyEmpty=true
//	POST   /jobCollections/{c}/enable
//	POST   /jobCollections/{c}/disable
//	GET    /jobCollections/{c}/jobs                   by name; $top, $skip, $skiptoken, and what is looked for ([view.JobSearch]):
//	                                                  $filter=state eq Enabled, labelSelector=a=b,!c, prefix,
//	                                                  actionType, nextAfter, nextBefore, text, lastOutcome
//	POST   /jobCollections/{c}/jobs                   create (201) a job of a name that nobody chose; ?strict, ?dryRun
//	GET    /jobs                                      likewise, of all collections that may be seen, by collection and name
//	PUT    /jobCollections/{c}/jobs/{j}               create (201) or replace (200) a job; ?strict=true|false, ?dryRun=true|false
//	GET    /jobCollections/{c}/jobs/{j}
//	PATCH  /jobCollections/{c}/jobs/{j}               merge into the definition (RFC 7396)
//	DELETE /jobCollections/{c}/jobs/{j}
//	POST   /jobCollections/{c}/jobs/{j}/run           run now: {"occurrence": "<id>"}
//	POST   /jobCollections/{c}/jobs/{j}/enable
//	POST   /jobCollections/{c}/jobs/{j}/disable
//	POST   /jobCollections/{c}/jobs/{j}/pause         {"until": …}
//	POST   /jobCollections/{c}/jobs/{j}/cancel        end active occurrences: {"occurrence": …, "reason": …, "dryRun": false}
//	POST   /jobCollections/{c}/cancel                 the same for all jobs of a collection, without an occurrence
//	POST   /jobCollections/{c}/jobs/{j}/try           the job to try, or nothing: the stored one
//	POST   /jobCollections/{c}/jobs/{j}/resubmit      {"occurrence": …, "force": false}
//	GET    /jobCollections/{c}/jobs/{j}/history       newest first; $top, $skip, $skiptoken, $filter ([view.HistoryFilter]), uid, earlier
//	GET    /jobCollections/{c}/jobs/{j}/why           why it ran at a time, or did not ([why.Answer]); at ([why.ParseMoment])
//	GET    /jobCollections/{c}/jobs/{j}/account       all instants that were due from…to, with their records ([why.Account])
//	GET    /jobCollections/{c}/history, /history      likewise, of a collection or of all jobs
//	GET    …/history?follow=true&after=5&as=sse       live tail of each of them; also with Accept: text/event-stream
//	GET    /secrets                                   shared secrets by name, without their values
//	PUT    /secrets/{name}                            {"value": "…", "description": "…"}: make (201) or replace (200) one
//	DELETE /secrets/{name}?force=true|false           409 while jobs refer to it, unless forced
//	POST   /secrets/rotate                            seal everything with the first key ([service.SecretKeeper.RotateSecrets])
//	GET    /tokens                                    access tokens, without their texts
//	POST   /tokens                                    make one (201): name, grants ([{"role": …, "collections": […]}]), expires
//	DELETE /tokens/{id}                               revoke one
//	POST   /preview                                   when a job would run; nothing is stored ([service.Previewer.Preview])
//	GET    /audit                                     the audit log, newest first: who changed what, when, from where
//	GET    /jobCollections/{c}/audit                  likewise, of a collection and its jobs; of a job below its path
//	GET    /forecast?hours=24&from=&collection=       planned runs, peaks, and what lowers them ([forecast.Report]); proposals=100
//	GET    /runs.ics, …/{c}/runs.ics, …/{j}/runs.ics  coming runs as a calendar (RFC 5545); days=30, max=1000; ETag, If-None-Match
//	POST   /doctor?fix=true|false                     the audit's report; fix repairs what it finds
//	GET    /healthz                                   200 while the process lives
//	GET    /readyz                                    200 when it can serve, else 503
//	GET    /metrics                                   what the process does, for Prometheus
//	GET    /openapi.json                              all of this as an OpenAPI 3.1 document ([OpenAPI]); ETag
//	GET    /schemas/job.json, …/collection.json       the JSON Schemas of what users write (package schema); ETag, If-None-Match
//	POST   /api/v2/schedules/preview/                 {"rrule": "…"}: the next ten, {"local": […], "utc": […]}, as in AWX
//	GET    /api/v2/schedules/                         schedules as AWX has them (package awx): page, page_size, order_by, filters
//	POST   /api/v2/schedules/                         make one (201) of the template unified_job_template
//	GET    /api/v2/schedules/{id}/
//	PUT    /api/v2/schedules/{id}/                    name and rrule; takes the action of the template afresh
//	PATCH  /api/v2/schedules/{id}/
//	DELETE /api/v2/schedules/{id}/                    204
//	GET    /api/v2/{kind}/{t}/schedules/              the schedules of a template, collection.job; kinds: awx.TemplateKinds
//	POST   /api/v2/{kind}/{t}/schedules/              {"name": "…", "rrule": "…", "extra_data": {…}}: make one (201)
//	GET    /api/v2/schedules/zoneinfo/                [{"name": "Africa/Abidjan"}, …], as in AWX
//
// All below /jobCollections stands below the path of a resource group of Azure's
// resource manager, too, in any letter case of its fixed parts:
//
//	/subscriptions/{s}/resourceGroups/{g}/providers/Microsoft.Scheduler/jobCollections…
//
// and beside it there is what clients of Azure Scheduler ask the resource manager:
//
//	GET    /subscriptions, /subscriptions/{s}         those that have collections; any
//	GET    /subscriptions/{s}/resourceGroups[/{g}]    likewise; HEAD of one is 204
//	PUT    /subscriptions/{s}/resourceGroups/{g}      keeps nothing
//	DELETE /subscriptions/{s}/resourceGroups/{g}      409 while it has collections
//	GET    /subscriptions/{s}/providers[/Microsoft.Scheduler]
//	POST   /subscriptions/{s}/providers/Microsoft.Scheduler/register
//	GET    /subscriptions/{s}/providers/Microsoft.Scheduler/jobCollections
//
// These need api-version. Ids and names are those of the resource manager, with the
// names that collections have within their scope ([scheduler.Scope]); run, enable and
// disable of a collection answer nothing; and there are no live tails. The short paths
// are those of the default scope.
//
// # Contract
//
//  1. Success is 200, or 201 for what was created; 204 for a schedule deleted. Deleting answers nothing.
//     Everything else is JSON in the shape of Azure Scheduler 2016-03-01.
//  2. An error is {"error": {"code", "message", "details": [{"path", "message"}]}}
//     with the status and code of [view.Error]; details has
//     every problem of the input. Beyond those of the service there are 404
//     UnknownRoute, 405 MethodNotAllowed (with Allow), 413 RequestTooLarge,
//     415 UnsupportedMediaType and 403 CrossOrigin. 503 carries Retry-After. The text of a defect
//     (500) goes to the log only. The paths of AWX tell their errors as AWX
//     does: {"rrule": ["message", …]} by field, or {"detail": "message"} for
//     what is no field's fault.
//  3. Bodies are JSON or YAML, distinguished by their first character and not by
//     Content-Type; on the paths of AWX, JSON. XML is 415. More than 16 KB is 413
//     and says how much came, up to 1 MB.
//  4. An edit that has been received is carried out even when its client goes
//     away in the middle.
//  5. A listing has up to 100 entries ($top: 1 to 100) and, when there are
//     more, nextLink: the URL of the next page, else null. It begins after the
//     last name or before the last record ($skiptoken), whatever is put,
//     recorded or deleted meanwhile. A page of a history may end early.
//  6. A live tail is NDJSON (application/x-ndjson): one record on each line, as
//     in the history, for everything recorded after the sequence that its
//     header Carillon-Sequence says (after). An empty line every 15 seconds is
//     a sign of life. It ends with the client, with the context of the server,
//     or with a line {"end": …} when its job is deleted ([view.Ending]). A
//     client that takes no data for ten seconds is left. $filter applies. Asked
//     for as server-sent events it has a record in each event, whose id is the
//     sequence; Last-Event-ID is the place after which to begin; signs of life
//     are comments; an event "end" is the end, and an event "gap" says that the
//     place is not kept any more ([view.HistoryGap]), of which the header
//     Carillon-First-Sequence tells otherwise.
//  7. Every answer has an x-ms-request-id, which the log repeats. A query
//     parameter that an operation does not have, or a document for one that
//     takes none, is 400 and named, but on the paths of AWX, which lets them
//     be. The parameter api-version has no effect on the short paths. The headers
//     x-ms-correlation-request-id and x-ms-client-request-id are given back.
//  8. No answer shows a secret: a job's are left out, and that of a name is not
//     given back. Neither are they logged.
//  9. A browser cannot be made to change anything from a page of another
//     origin ([http.CrossOriginProtection]).
//  10. Who asks is what [Config.Identify] finds out; by default anybody may do
//     everything. Each operation names a right (package access), and one that
//     names none is refused. Without one is 401 AuthenticationFailed with
//     WWW-Authenticate (RFC 6750), or 403 AuthorizationFailed, which names the
//     role that is missing; nothing of the request is read then. Lists and
//     histories over all collections have what the caller may see, and what is
//     named by an id is not found otherwise. /healthz, /readyz, /openapi.json and
//     the schemas are open.
//
// # Puts and patches
//
// The answer to one is the job, and beside its properties "result" (created,
// updated or unchanged) and, if there are any, "warnings": [{"path", "message"}],
// of what its writer might not expect. With strict, warnings are the details of
// a 400. With dryRun everything is checked, nothing written, and the answer, with
// 200, is the job as it would be, and "dryRun": {"nextRuns": […], "notes": […],
// "nextRunsBefore": […], "changes": [{"path", "before", "after"}]} ([view.DryRun]).
//
// A collection that is put is answered with its result, too, and may be put and
// patched with dryRun; "dryRun" has the changes then.
//
// # Conditions
//
// What shows a job or a collection has its ETag ([scheduler.Job.ETag]), which a
// list has in its documents. If-Match and If-None-Match are heeded, as RFC 9110,
// section 13, says ([scheduler.Condition]), by what changes one of them and by GET:
// 412 PreconditionFailed, with the present ETag, or 304. A run is of the job, so it
// takes them, too. The other changes refuse them with 400. A condition is checked
// together with the change: of two that name one ETag, one is 412.
//
// Timeouts of reading and of idle connections are the [http.Server]'s.
package rest
