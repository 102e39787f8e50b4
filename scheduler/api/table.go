package api

import (
	"net/http"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/explain"
	"github.com/carillon-sched/carillon/scheduler/forecast"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

// Groups of the documentation.
const (
	collections    = "Collections"
	jobs           = "Jobs"
	past           = "History"
	events         = "Events"
	administration = "Administration"
)

// Texts of several operations.
const (
	tailText  = "With follow=true, the answer is a live tail of new records, or of all records after a sequence: one record per line."
	eventText = tailText + " Use as=sse or the header Accept to get server-sent events."
	dryText   = "With dryRun, the answer is 200 with the would-be result, and nothing is written."
	storeText = "The body is of any type, at most 64 KB. The headers ce-… and Content-Type become attributes, and Nats-Msg-Id the ID: " +
		"an ID is stored once within two minutes. It accepts CloudEvents in binary and structured mode."
	bodyText   = "The document is optional."
	cancelText = "No retry follows. " + bodyText
)

// Statuses of several operations: missing is an absent object; refused adds what its state or a quota does not allow.
var (
	put     = []int{http.StatusOK, http.StatusCreated}
	missing = []int{http.StatusNotFound}
	refused = []int{http.StatusNotFound, http.StatusConflict}
)

// Documents of several operations.
var (
	shownCollection = composed("ShownCollection")
	shownJob        = composed("ShownJob")
	record          = composed("HistoryRecord")
	armResource     = composed("ArmResource")
)

// Operations is the table.
var Operations = slices.Concat(
	collectionOperations, jobOperations, historyOperations, eventOperations, sourceOperations,
	failureOperations, adminOperations, azureOperations, awxOperations,
)

var collectionOperations = []Operation{
	{
		ID: "listCollections", Summary: "List the collections", Group: collections,
		Method: "GET", Path: "/jobCollections", Right: auth.ReadAny,
		Subject: "collection-list", Returns: "a page of collections, by name",
		Answer: listOf(shownCollection),
	},
	{
		ID: "putCollection", Summary: "Create or replace a collection", Text: dryText, Group: collections,
		Method: "PUT", Path: "/jobCollections/{c}", Right: auth.Administer,
		Subject: "collection-put.{c}", Returns: "the collection",
		Query: []Param{dryRun}, Body: composed("Collection"), MayEmpty: true, Conditional: true, Tagged: true,
		Answer: shownCollection, Statuses: put, Errors: []int{http.StatusConflict},
		ShortErrors: missing, // of a name that only a resource group gives
	},
	{
		ID: "getCollection", Summary: "Show a collection", Group: collections,
		Method: "GET", Path: "/jobCollections/{c}", Right: auth.Read,
		Subject: "collection-get.{c}", Returns: "the collection",
		Tagged: true, Answer: shownCollection, Errors: missing,
	},
	{
		ID: "patchCollection", Summary: "Merge into a collection (RFC 7396)", Text: dryText, Group: collections,
		Method: "PATCH", Path: "/jobCollections/{c}", Right: auth.Administer,
		Subject: "collection-patch.{c}", Returns: "the collection",
		Query: []Param{dryRun}, Body: composed("CollectionPatch"), Conditional: true, Tagged: true,
		Answer: shownCollection, Errors: refused,
	},
	{
		ID: "deleteCollection", Summary: "Delete a collection with its jobs and histories", Group: collections,
		Method: "DELETE", Path: "/jobCollections/{c}", Right: auth.Administer,
		Subject: "collection-delete.{c}", Returns: "nothing",
		Query: []Param{{Name: "onlyEmpty", Kind: Flag, Text: "409 while it has any jobs"}}, Conditional: true, Errors: refused,
	},
	{
		ID: "enableCollection", Summary: "Enable a collection: its jobs run", Group: collections,
		Method: "POST", Path: "/jobCollections/{c}/enable", Right: auth.Administer,
		Subject: "collection-enable.{c}", Returns: "the collection",
		Bare: true, Conditional: true, Tagged: true, Answer: shownCollection, Silent: true, Errors: missing,
	},
	{
		ID: "disableCollection", Summary: "Disable a collection: its jobs do not run", Group: collections,
		Method: "POST", Path: "/jobCollections/{c}/disable", Right: auth.Administer,
		Subject: "collection-disable.{c}", Returns: "the collection",
		Bare: true, Conditional: true, Tagged: true, Answer: shownCollection, Silent: true, Errors: missing,
	},
	{
		ID: "cancelCollection", Summary: "Cancel all active occurrences of a collection", Text: cancelText, Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/cancel", Right: auth.Operate,
		Subject: "collection-cancel.{c}", Returns: "the ids of the occurrences that were canceled",
		Body: of[v1.CancelCollectionRequest](), MayEmpty: true, ConditionalNATS: true, Answer: of[v1.Cancellation](), Errors: missing,
	},
}

var jobOperations = []Operation{
	{
		ID: "listJobs", Summary: "List the jobs of a collection by name", Group: jobs,
		Method: "GET", Path: "/jobCollections/{c}/jobs", Right: auth.Read,
		Subject: "list.{c}", Returns: "a page of jobs, by name",
		Query: search, Answer: listOf(shownJob), Errors: missing,
	},
	{
		ID: "listAllJobs", Summary: "List all jobs by collection and name", Group: jobs,
		Method: "GET", Path: "/jobs", Right: auth.ReadAny,
		Subject: "list", Returns: "a page of the jobs of all collections, by collection and name",
		Query: search, Answer: listOf(shownJob),
	},
	{
		ID: "createJob", Summary: "Create a job under a generated name", Text: dryText, Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs", Right: auth.Operate,
		Query: editing, Body: composed("Job"), Tagged: true, Answer: shownJob, Statuses: put, Located: true, Errors: refused,
	},
	{
		ID: "putJob", Summary: "Create or replace a job", Text: dryText, Group: jobs,
		Method: "PUT", Path: "/jobCollections/{c}/jobs/{j}", Right: auth.Operate,
		Subject: "put.{c}.{j}", Published: true, Returns: "the job",
		Query: editing, Body: composed("Job"), Conditional: true, Tagged: true, Answer: shownJob, Statuses: put, Errors: refused,
	},
	{
		ID: "getJob", Summary: "Show a job", Group: jobs,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}", Right: auth.Read,
		Subject: "get.{c}.{j}", Returns: "the job",
		Tagged: true, Answer: shownJob, Errors: missing,
	},
	{
		ID: "patchJob", Summary: "Merge into a job (RFC 7396)", Text: dryText, Group: jobs,
		Method: "PATCH", Path: "/jobCollections/{c}/jobs/{j}", Right: auth.Operate,
		Subject: "patch.{c}.{j}", Published: true, Returns: "the job",
		Query: editing, Body: composed("JobPatch"), Conditional: true, Tagged: true, Answer: shownJob, Errors: refused,
	},
	{
		ID: "deleteJob", Summary: "Delete a job with its history", Group: jobs,
		Method: "DELETE", Path: "/jobCollections/{c}/jobs/{j}", Right: auth.Operate,
		Subject: "delete.{c}.{j}", Published: true, Returns: "nothing",
		Conditional: true, Errors: missing,
	},
	{
		ID: "runJob", Summary: "Run a job now, in addition to its schedule", Text: bodyText, Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/run", Right: auth.Operate,
		Subject: "run.{c}.{j}", Published: true, Returns: "the id of the occurrence",
		Body: of[v1.RunRequest](), MayEmpty: true, Conditional: true, Answer: of[v1.StartedRun](), Silent: true, Errors: refused,
	},
	{
		ID: "resubmitJob", Summary: "Repeat a failed, skipped or postponed occurrence", Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/resubmit", Right: auth.Operate,
		Subject: "resubmit.{c}.{j}", Published: true, Returns: "the ids of the occurrence and of its original",
		Body: of[v1.ResubmitRequest](), Answer: of[v1.Resubmitted](), Errors: refused,
	},
	{
		ID: "enableJob", Summary: "Enable a disabled or paused job", Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/enable", Right: auth.Operate,
		Subject: "enable.{c}.{j}", Published: true, Returns: "the job",
		Bare: true, Conditional: true, Tagged: true, Answer: shownJob, Errors: refused,
	},
	{
		ID: "disableJob", Summary: "Disable a job", Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/disable", Right: auth.Operate,
		Subject: "disable.{c}.{j}", Published: true, Returns: "the job",
		Bare: true, Conditional: true, Tagged: true, Answer: shownJob, Errors: refused,
	},
	{
		ID: "pauseJob", Summary: "Pause a job until a time", Text: "The job resumes automatically.", Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/pause", Right: auth.Operate,
		Subject: "pause.{c}.{j}", Published: true, Returns: "the job",
		Body: of[v1.PauseRequest](), Conditional: true, Tagged: true, Answer: shownJob, Errors: refused,
	},
	{
		ID: "cancelJob", Summary: "Cancel active occurrences of a job", Text: cancelText, Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/cancel", Right: auth.Operate,
		Subject: "cancel.{c}.{j}", Returns: "the ids of the occurrences that were canceled",
		Body: of[v1.CancelRequest](), MayEmpty: true, ConditionalNATS: true, Answer: of[v1.Cancellation](), Errors: refused,
	},
	{
		ID: "tryJob", Summary: "Test a job with a single attempt now", Group: jobs,
		Text:   "The scheduler stores no record and does not retry. Without a document, or with {\"data\": {…}}, it tries the stored job.",
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/try", Right: auth.Operate,
		Subject: "try.{c}.{j}", Returns: "what became of one attempt of the job",
		Body: composed("Job"), MayEmpty: true, Abortable: true, Answer: of[v1.Trial](), Errors: refused,
	},
	{
		ID: "preview", Summary: "Show when a job would run", Text: "The scheduler stores nothing.", Group: jobs,
		Method: "POST", Path: "/preview", Right: auth.Known,
		Subject: "preview", Returns: "when a job would run",
		Body: composed("PreviewRequest"), Abortable: true, Answer: of[v1.Previewed](),
	},
	{
		ID: "createOperation", Summary: "Apply one change to many jobs", Group: jobs,
		Text:   "With dryRun, the answer is 200 with the operation, and no job changes.",
		Method: "POST", Path: "/operations", Right: auth.OperateAny,
		Subject: "operation-create", Scoped: true, Returns: "the operation",
		Query: []Param{ofCollection}, Body: of[v1.OperationRequest](), Answer: of[v1.Operation](), Statuses: put,
	},
	{
		ID: "listOperations", Summary: "List recent operations, newest first", Text: "The scheduler keeps them for 7 days.", Group: jobs,
		Method: "GET", Path: "/operations", Right: auth.ReadAny,
		Subject: "operation-list", Scoped: true, Returns: "operations, the newest first",
		Query: []Param{ofCollection}, Answer: listOf(of[v1.Operation]()),
	},
	{
		ID: "getOperation", Summary: "Show an operation", Group: jobs,
		Method: "GET", Path: "/operations/{id}", Right: auth.ReadAny,
		Subject: "operation-get.{id}", Scoped: true, Returns: "the operation",
		Query: []Param{ofCollection}, Answer: of[v1.Operation](), Errors: missing,
	},
	{
		ID: "cancelOperation", Summary: "Stop an operation between jobs", Group: jobs,
		Method: "POST", Path: "/operations/{id}/cancel", Right: auth.OperateAny,
		Subject: "operation-cancel.{id}", Scoped: true, Returns: "the operation",
		Query: []Param{ofCollection}, Bare: true, Answer: of[v1.Operation](), Errors: missing,
	},
}

var historyOperations = []Operation{
	{
		ID: "jobHistory", Summary: "List the records of a job, newest first", Text: eventText, Group: past,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}/history", Right: auth.Read,
		Subject: "history.{c}.{j}", Follow: "follow.{c}.{j}", Returns: "a page of records, newest first",
		Query: history, Answer: listOf(record), Line: record, Events: true, Errors: missing,
	},
	{
		ID: "collectionHistory", Summary: "List the records of a collection, newest first", Text: eventText, Group: past,
		Method: "GET", Path: "/jobCollections/{c}/history", Right: auth.Read,
		Subject: "history.{c}", Follow: "follow.{c}", Returns: "a page of the records of a collection, newest first",
		Query: history, Answer: listOf(record), Line: record, Events: true, Errors: missing,
	},
	{
		ID: "history", Summary: "List all records, newest first", Text: eventText, Group: past,
		Method: "GET", Path: "/history", Right: auth.ReadAny,
		Subject: "history", Follow: "follow", Returns: "a page of the records of all jobs, newest first",
		Query: history, Answer: listOf(record), Line: record, Events: true,
	},
	{
		ID: "why", Summary: "Explain why a job ran at a time, or did not", Group: past,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}/why", Right: auth.Read,
		Subject: "why.{c}.{j}", Returns: "why the job ran at a time, or did not",
		Query: []Param{{
			Name: "at", Text: "when, such as 2026-03-02T09:00, now or -2h; default: the latest instant that did not run, else the next one",
		}},
		Answer: of[explain.Answer](), Errors: missing,
	},
	{
		ID: "account", Summary: "List all due times of a period with their records", Group: past,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}/account", Right: auth.Read,
		Subject: "account.{c}.{j}", Returns: "all instants that were due in a period, with their records",
		Query: []Param{
			{Name: "from", Text: "where the period begins, such as 2026-03-02T09:00Z or -24h; required"},
			{Name: "to", Text: "where it ends, exclusive; default: now"},
		},
		Answer: of[explain.Account](), Errors: missing,
	},
	{
		ID: "forecast", Summary: "Forecast runs per minute", Text: "The report suggests how to flatten peaks.", Group: past,
		Method: "GET", Path: "/forecast", Right: auth.ReadAny,
		Subject: "forecast", Scoped: true, Returns: "what is planned, minute by minute",
		Query: planned, Answer: of[forecast.Report](), Errors: missing,
	},
	{
		ID: "jobRuns", Summary: "Export a job's coming runs as a calendar", Group: past,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}/runs.ics", Right: auth.Read,
		Query: runs, Tag304: true, Media: "text/calendar", Errors: missing,
	},
	{
		ID: "collectionRuns", Summary: "Export a collection's coming runs as a calendar", Group: past,
		Method: "GET", Path: "/jobCollections/{c}/runs.ics", Right: auth.Read,
		Query: runs, Tag304: true, Media: "text/calendar", Errors: missing,
	},
	{
		ID: "runs", Summary: "Export all coming runs as a calendar", Group: past,
		Method: "GET", Path: "/runs.ics", Right: auth.ReadAny,
		Query: runs, Tag304: true, Media: "text/calendar",
	},
	{
		ID: "jobAudit", Summary: "List who changed a job, newest first", Text: tailText, Group: administration,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}/audit", Right: auth.Administer,
		Subject: "audit.{c}.{j}", Follow: "follow-audit.{c}.{j}", Returns: "a page of who changed the job, newest first",
		Query: changes, Answer: listOf(of[audit.Entry]()), Line: of[audit.Entry](),
	},
	{
		ID: "collectionAudit", Summary: "List who changed a collection, newest first", Text: tailText, Group: administration,
		Method: "GET", Path: "/jobCollections/{c}/audit", Right: auth.Administer,
		Subject: "audit.{c}", Follow: "follow-audit.{c}", Returns: "a page of who changed a collection and its jobs, newest first",
		Query: changes, Answer: listOf(of[audit.Entry]()), Line: of[audit.Entry](),
	},
	{
		ID: "audit", Summary: "List all changes, newest first", Text: tailText, Group: administration,
		Method: "GET", Path: "/audit", Right: auth.Administer,
		Subject: "audit", Follow: "follow-audit", Returns: "a page of who changed what, newest first",
		Query: changes, Answer: listOf(of[audit.Entry]()), Line: of[audit.Entry](),
	},
}

var eventOperations = []Operation{
	{
		ID: "publishEvent", Summary: "Publish an event, which starts jobs", Text: storeText, Group: events,
		Method: "POST", Path: "/jobCollections/{c}/events/{e}", Right: auth.Operate,
		Raw: true, Answer: of[v1.PublishedEvent](), Statuses: []int{http.StatusAccepted}, Errors: missing,
	},
	{
		ID: "listEvents", Summary: "List the events of a collection, newest first", Group: events,
		Method: "GET", Path: "/jobCollections/{c}/events", Right: auth.Read,
		Subject: "event-list.{c}", Returns: "a page of the events of a collection, newest first",
		Query: published, Answer: listOf(of[v1.Event]()), Errors: missing,
	},
	{
		ID: "listAllEvents", Summary: "List all events, newest first", Group: events,
		Method: "GET", Path: "/events", Right: auth.ReadAny,
		Subject: "event-list", Returns: "a page of the events of all collections, newest first",
		Query: published, Answer: listOf(of[v1.Event]()),
	},
	{
		ID: "getEvent", Summary: "Show an event", Text: "The id is its sequence.", Group: events,
		Method: "GET", Path: "/events/{id}", Right: auth.ReadAny,
		Subject: "event-get.{id}", Scoped: true, Returns: "the event with a sequence",
		Query: []Param{ofCollection}, Answer: of[v1.Event](), Errors: missing,
	},
	{
		ID: "graph", Summary: "Show which events and jobs start which jobs", Group: events,
		Method: "GET", Path: "/graph", Right: auth.ReadAny,
		Subject: "graph", Scoped: true, Returns: "the events and jobs that start jobs",
		Query: []Param{ofCollection}, Answer: of[v1.Graph](), Errors: missing,
	},
	{
		ID: "testEvent", Summary: "Show the effect of an event on a job", Text: "The scheduler stores nothing.", Group: events,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/try-event", Right: auth.Read,
		Subject: "event-test.{c}.{j}", Returns: "the effect that an event would have on a job",
		Body: of[v1.TestEventRequest](), Abortable: true, Answer: of[v1.TestedEvent](), Errors: refused,
	},
	{
		ID: "replayEvent", Summary: "Run a job with a stored event", Group: events,
		Text:   "The job's filter applies, its delay, debounce, batch and rateLimit do not. With dryRun, nothing starts.",
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/replay", Right: auth.Operate,
		Subject: "event-replay.{c}.{j}", Returns: "the run that the event started",
		Query: []Param{dryRun}, Body: of[v1.ReplayEventRequest](), Answer: of[v1.ReplayedEvent](), Errors: refused,
	},
}

var adminOperations = []Operation{
	{
		ID: "listSecrets", Summary: "List the shared secrets without their values", Group: administration,
		Method: "GET", Path: "/secrets", Right: auth.Administer,
		Subject: "secret-list", Returns: "all shared secrets, without their values",
		Answer: listOf(of[v1.SharedSecret]()),
	},
	{
		ID: "putSecret", Summary: "Create or replace a shared secret", Group: administration,
		Method: "PUT", Path: "/secrets/{name}", Right: auth.Administer,
		Subject: "secret-put.{name}", Returns: "the secret, without its value",
		Body: of[v1.SharedSecretRequest](), Answer: of[v1.SharedSecret](), Statuses: put,
	},
	{
		ID: "deleteSecret", Summary: "Delete a shared secret", Group: administration,
		Method: "DELETE", Path: "/secrets/{name}", Right: auth.Administer,
		Subject: "secret-delete.{name}", Returns: "nothing",
		Query: []Param{{Name: "force", Kind: Flag, Text: "also while jobs refer to it"}}, Errors: refused,
	},
	{
		ID: "rotateSecrets", Summary: "Seal all secrets with the first key", Group: administration,
		Method: "POST", Path: "/secrets/rotate", Served: "/secrets/{name}", Right: auth.Administer,
		Subject: "secret-rotate", Returns: "what was sealed again",
		Bare: true, Answer: of[v1.Rotation](),
	},
	{
		ID: "listTokens", Summary: "List the access tokens without their texts", Group: administration,
		Method: "GET", Path: "/tokens", Right: auth.Administer,
		Answer: listOf(of[v1.Token]()),
	},
	{
		ID: "createToken", Summary: "Create an access token and show its text once", Group: administration,
		Method: "POST", Path: "/tokens", Right: auth.Administer,
		Body: of[v1.TokenRequest](), Answer: of[v1.NewToken](), Statuses: []int{http.StatusCreated},
	},
	{
		ID: "revokeToken", Summary: "Revoke an access token", Group: administration,
		Method: "DELETE", Path: "/tokens/{id}", Right: auth.Administer,
		Answer: of[v1.Token](), Errors: missing,
	},
	{
		ID: "doctor", Summary: "Check that every job is scheduled", Text: "It compares jobs with batons.", Group: administration,
		Method: "POST", Path: "/doctor", Right: auth.Administer,
		Query: []Param{{Name: "fix", Kind: Flag, Text: "repair all findings"}}, Bare: true, Abortable: true,
		Answer: of[v1.AuditReport](),
	},
	{
		ID: "healthz", Summary: "Report that the process is alive", Group: administration,
		Method: "GET", Path: "/healthz", Right: auth.Open,
		Answer: composed("ProcessStatus"),
	},
	{
		ID: "readyz", Summary: "Report whether the process can serve", Group: administration,
		Method: "GET", Path: "/readyz", Right: auth.Open,
		Answer: composed("ProcessStatus"), Errors: []int{http.StatusInternalServerError, http.StatusServiceUnavailable},
	},
	{
		ID: "metrics", Summary: "Export metrics for Prometheus", Group: administration,
		Method: "GET", Path: "/metrics", Right: auth.Read,
		Media: "text/plain", Errors: missing,
	},
	{
		ID: "jobSchema", Summary: "Show the JSON Schema of a job", Group: administration,
		Method: "GET", Path: "/schemas/job.json", Right: auth.Open,
		Tagged: true, Answer: composed("JSONSchema"), Media: schema.MediaType,
	},
	{
		ID: "collectionSchema", Summary: "Show the JSON Schema of a collection", Group: administration,
		Method: "GET", Path: "/schemas/collection.json", Right: auth.Open,
		Tagged: true, Answer: composed("JSONSchema"), Media: schema.MediaType,
	},
	{
		ID: "openapi", Summary: "Show the OpenAPI document", Group: administration,
		Method: "GET", Path: "/openapi.json", Right: auth.Open,
		Tagged: true, Answer: composed("OpenAPI"),
	},
}
