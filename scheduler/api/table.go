package api

import (
	"net/http"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

// Groups of the documentation.
const (
	collections    = "Collections"
	jobs           = "Jobs"
	past           = "History"
	administration = "Administration"
)

// Texts of several operations.
const (
	tailText  = "With follow=true it is a live tail of what is recorded from now on, or after a sequence: a record on each line."
	eventText = tailText + " As server-sent events it is asked for by as=sse or Accept."
	dryText   = "With dryRun it answers 200 with what would be, and writes nothing."
	bodyText  = "The document may be left out."
)

// Statuses of several operations: missing is an absent object; refused adds what its state or a quota does not allow.
var (
	put     = []int{http.StatusOK, http.StatusCreated}
	missing = []int{http.StatusNotFound}
	refused = []int{http.StatusNotFound, http.StatusConflict}
)

// Operations is the table.
var Operations = slices.Concat(collectionOperations, jobOperations, historyOperations, adminOperations, azureOperations, awxOperations)

var collectionOperations = []Operation{
	{
		ID: "listCollections", Summary: "List the collections", Group: collections,
		Method: "GET", Path: "/jobCollections", Right: access.ReadAny,
		Subject: "collection-list", Returns: "a page of collections, by name",
		Answer: "CollectionList",
	},
	{
		ID: "putCollection", Summary: "Create or replace a collection", Text: dryText, Group: collections,
		Method: "PUT", Path: "/jobCollections/{c}", Right: access.Administer,
		Subject: "collection-put.{c}", Returns: "the collection",
		Query: []Param{dryRun}, Body: "Collection", MayEmpty: true, Conditional: true, Tagged: true,
		Answer: "ShownCollection", Statuses: put, Errors: []int{http.StatusConflict},
		ShortErrors: missing, // of a name that only a resource group gives
	},
	{
		ID: "getCollection", Summary: "Show a collection", Group: collections,
		Method: "GET", Path: "/jobCollections/{c}", Right: access.Read,
		Subject: "collection-get.{c}", Returns: "the collection",
		Tagged: true, Answer: "ShownCollection", Errors: missing,
	},
	{
		ID: "patchCollection", Summary: "Merge into a collection (RFC 7396)", Text: dryText, Group: collections,
		Method: "PATCH", Path: "/jobCollections/{c}", Right: access.Administer,
		Subject: "collection-patch.{c}", Returns: "the collection",
		Query: []Param{dryRun}, Body: "CollectionPatch", Conditional: true, Tagged: true,
		Answer: "ShownCollection", Errors: refused,
	},
	{
		ID: "deleteCollection", Summary: "Delete a collection with its jobs and their histories", Group: collections,
		Method: "DELETE", Path: "/jobCollections/{c}", Right: access.Administer,
		Subject: "collection-delete.{c}", Returns: "nothing",
		Query: []Param{{Name: "onlyEmpty", Kind: Flag, Text: "409 while it has any jobs"}}, Conditional: true, Errors: refused,
	},
	{
		ID: "enableCollection", Summary: "Let the jobs of a collection run", Group: collections,
		Method: "POST", Path: "/jobCollections/{c}/enable", Right: access.Administer,
		Subject: "collection-enable.{c}", Returns: "the collection",
		Bare: true, Conditional: true, Tagged: true, Answer: "ShownCollection", Silent: true, Errors: missing,
	},
	{
		ID: "disableCollection", Summary: "Stop the jobs of a collection", Group: collections,
		Method: "POST", Path: "/jobCollections/{c}/disable", Right: access.Administer,
		Subject: "collection-disable.{c}", Returns: "the collection",
		Bare: true, Conditional: true, Tagged: true, Answer: "ShownCollection", Silent: true, Errors: missing,
	},
	{
		ID: "cancelCollection", Summary: "End all occurrences of a collection that have begun, retries included", Text: bodyText, Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/cancel", Right: access.Operate,
		Subject: "collection-cancel.{c}", Returns: "the ids of the occurrences that were canceled",
		Body: "CancelCollectionRequest", ConditionalNATS: true, Answer: "Cancellation", Errors: missing,
	},
}

var jobOperations = []Operation{
	{
		ID: "listJobs", Summary: "List the jobs of a collection, by name", Group: jobs,
		Method: "GET", Path: "/jobCollections/{c}/jobs", Right: access.Read,
		Subject: "list.{c}", Returns: "a page of jobs, by name",
		Query: search, Answer: "JobList", Errors: missing,
	},
	{
		ID: "listAllJobs", Summary: "List the jobs of all collections, by collection and name", Group: jobs,
		Method: "GET", Path: "/jobs", Right: access.ReadAny,
		Subject: "list", Returns: "a page of the jobs of all collections, by collection and name",
		Query: search, Answer: "JobList",
	},
	{
		ID: "createJob", Summary: "Create a job of a name that nobody chose", Text: dryText, Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs", Right: access.Operate,
		Query: editing, Body: "Job", Tagged: true, Answer: "ShownJob", Statuses: put, Located: true, Errors: refused,
	},
	{
		ID: "putJob", Summary: "Create or replace a job", Text: dryText, Group: jobs,
		Method: "PUT", Path: "/jobCollections/{c}/jobs/{j}", Right: access.Operate,
		Subject: "put.{c}.{j}", Published: true, Returns: "the job",
		Query: editing, Body: "Job", Conditional: true, Tagged: true, Answer: "ShownJob", Statuses: put, Errors: refused,
	},
	{
		ID: "getJob", Summary: "Show a job", Group: jobs,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}", Right: access.Read,
		Subject: "get.{c}.{j}", Returns: "the job",
		Tagged: true, Answer: "ShownJob", Errors: missing,
	},
	{
		ID: "patchJob", Summary: "Merge into a job (RFC 7396)", Text: dryText, Group: jobs,
		Method: "PATCH", Path: "/jobCollections/{c}/jobs/{j}", Right: access.Operate,
		Subject: "patch.{c}.{j}", Published: true, Returns: "the job",
		Query: editing, Body: "JobPatch", Conditional: true, Tagged: true, Answer: "ShownJob", Errors: refused,
	},
	{
		ID: "deleteJob", Summary: "Delete a job with its history", Group: jobs,
		Method: "DELETE", Path: "/jobCollections/{c}/jobs/{j}", Right: access.Operate,
		Subject: "delete.{c}.{j}", Published: true, Returns: "nothing",
		Conditional: true, Errors: missing,
	},
	{
		ID: "runJob", Summary: "Run a job now, in addition to its schedule", Text: bodyText, Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/run", Right: access.Operate,
		Subject: "run.{c}.{j}", Published: true, Returns: "the id of the occurrence",
		Body: "RunRequest", Conditional: true, Answer: "StartedRun", Silent: true, Errors: refused,
	},
	{
		ID: "resubmitJob", Summary: "Run an occurrence again that failed, was skipped or was postponed", Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/resubmit", Right: access.Operate,
		Subject: "resubmit.{c}.{j}", Published: true, Returns: "the ids of the occurrence, and of the one that it repeats",
		Body: "ResubmitRequest", Answer: "Resubmitted", Errors: refused,
	},
	{
		ID: "enableJob", Summary: "Let a job run again that is disabled or paused", Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/enable", Right: access.Operate,
		Subject: "enable.{c}.{j}", Published: true, Returns: "the job",
		Bare: true, Conditional: true, Tagged: true, Answer: "ShownJob", Errors: refused,
	},
	{
		ID: "disableJob", Summary: "Stop a job until it is enabled", Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/disable", Right: access.Operate,
		Subject: "disable.{c}.{j}", Published: true, Returns: "the job",
		Bare: true, Conditional: true, Tagged: true, Answer: "ShownJob", Errors: refused,
	},
	{
		ID: "pauseJob", Summary: "Keep a job from starting anything until a time, after which it goes on by itself", Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/pause", Right: access.Operate,
		Subject: "pause.{c}.{j}", Published: true, Returns: "the job",
		Body: "PauseRequest", Conditional: true, Tagged: true, Answer: "ShownJob", Errors: refused,
	},
	{
		ID: "cancelJob", Summary: "End occurrences of a job that have begun, retries included", Text: bodyText, Group: jobs,
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/cancel", Right: access.Operate,
		Subject: "cancel.{c}.{j}", Returns: "the ids of the occurrences that were canceled",
		Body: "CancelRequest", ConditionalNATS: true, Answer: "Cancellation", Errors: refused,
	},
	{
		ID: "tryJob", Summary: "Make one attempt of a job now, and tell what became of it", Group: jobs,
		Text:   "The scheduler stores no record and does not retry. Without a document, or with {\"data\": {…}}, it tries the stored job.",
		Method: "POST", Path: "/jobCollections/{c}/jobs/{j}/try", Right: access.Operate,
		Subject: "try.{c}.{j}", Returns: "what became of one attempt of the job",
		Body: "Job", Answer: "Trial", Errors: refused,
	},
	{
		ID: "preview", Summary: "Tell when a job would run", Text: "Nothing is stored.", Group: jobs,
		Method: "POST", Path: "/preview", Right: access.Known,
		Subject: "preview", Returns: "when a job would run",
		Body: "PreviewRequest", Answer: "Previewed",
	},
	{
		ID: "createOperation", Summary: "Do one thing to many jobs", Group: jobs,
		Text:   "With dryRun it answers 200 with the operation, and changes no job.",
		Method: "POST", Path: "/operations", Right: access.OperateAny,
		Subject: "operation-create", Scoped: true, Returns: "the operation",
		Query: []Param{ofCollection}, Body: "OperationRequest", Answer: "Operation", Statuses: put,
	},
	{
		ID: "listOperations", Summary: "List the operations of the last 7 days, the newest first", Group: jobs,
		Method: "GET", Path: "/operations", Right: access.ReadAny,
		Subject: "operation-list", Scoped: true, Returns: "operations, the newest first",
		Query: []Param{ofCollection}, Answer: "OperationList",
	},
	{
		ID: "getOperation", Summary: "Show an operation", Group: jobs,
		Method: "GET", Path: "/operations/{id}", Right: access.ReadAny,
		Subject: "operation-get.{id}", Scoped: true, Returns: "the operation",
		Query: []Param{ofCollection}, Answer: "Operation", Errors: missing,
	},
	{
		ID: "cancelOperation", Summary: "Stop an operation between jobs", Group: jobs,
		Method: "POST", Path: "/operations/{id}/cancel", Right: access.OperateAny,
		Subject: "operation-cancel.{id}", Scoped: true, Returns: "the operation",
		Query: []Param{ofCollection}, Bare: true, Answer: "Operation", Errors: missing,
	},
}

var historyOperations = []Operation{
	{
		ID: "jobHistory", Summary: "List what ran of a job, newest first", Text: eventText, Group: past,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}/history", Right: access.Read,
		Subject: "history.{c}.{j}", Follow: "follow.{c}.{j}", Returns: "a page of records, newest first",
		Query: history, Answer: "HistoryRecordList", Line: "HistoryRecord", Events: true, Errors: missing,
	},
	{
		ID: "collectionHistory", Summary: "List what ran in a collection, newest first", Text: eventText, Group: past,
		Method: "GET", Path: "/jobCollections/{c}/history", Right: access.Read,
		Subject: "history.{c}", Follow: "follow.{c}", Returns: "a page of the records of a collection, newest first",
		Query: history, Answer: "HistoryRecordList", Line: "HistoryRecord", Events: true, Errors: missing,
	},
	{
		ID: "history", Summary: "List what ran, newest first", Text: eventText, Group: past,
		Method: "GET", Path: "/history", Right: access.ReadAny,
		Subject: "history", Follow: "follow", Returns: "a page of the records of all jobs, newest first",
		Query: history, Answer: "HistoryRecordList", Line: "HistoryRecord", Events: true,
	},
	{
		ID: "why", Summary: "Tell why a job ran at a time, or did not", Group: past,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}/why", Right: access.Read,
		Subject: "why.{c}.{j}", Returns: "why the job ran at a time, or did not",
		Query: []Param{{
			Name: "at", Text: "when, such as 2026-03-02T09:00, now or -2h; default: the latest instant that did not run, else the next one",
		}},
		Answer: "Why", Errors: missing,
	},
	{
		ID: "account", Summary: "Show each instant that was due in a period with its record, or the lack of one", Group: past,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}/account", Right: access.Read,
		Subject: "account.{c}.{j}", Returns: "all instants that were due in a period, with their records",
		Query: []Param{
			{Name: "from", Text: "where the period begins, such as 2026-03-02T09:00Z or -24h; required"},
			{Name: "to", Text: "where it ends, exclusive; default: now"},
		},
		Answer: "Account", Errors: missing,
	},
	{
		ID: "forecast", Summary: "Count what is planned, and propose what lowers its peaks", Group: past,
		Method: "GET", Path: "/forecast", Right: access.ReadAny,
		Subject: "forecast", Scoped: true, Returns: "what is planned, minute by minute",
		Query: planned, Answer: "Forecast", Errors: missing,
	},
	{
		ID: "jobRuns", Summary: "The coming runs of a job, as a calendar", Group: past,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}/runs.ics", Right: access.Read,
		Query: runs, Tag304: true, Media: "text/calendar", Errors: missing,
	},
	{
		ID: "collectionRuns", Summary: "The coming runs of a collection, as a calendar", Group: past,
		Method: "GET", Path: "/jobCollections/{c}/runs.ics", Right: access.Read,
		Query: runs, Tag304: true, Media: "text/calendar", Errors: missing,
	},
	{
		ID: "runs", Summary: "The coming runs, as a calendar", Group: past,
		Method: "GET", Path: "/runs.ics", Right: access.ReadAny,
		Query: runs, Tag304: true, Media: "text/calendar",
	},
	{
		ID: "jobAudit", Summary: "List who changed a job, newest first", Text: tailText, Group: administration,
		Method: "GET", Path: "/jobCollections/{c}/jobs/{j}/audit", Right: access.Administer,
		Subject: "audit.{c}.{j}", Follow: "follow-audit.{c}.{j}", Returns: "a page of who changed the job, newest first",
		Query: audit, Answer: "AuditRecordList", Line: "AuditRecord",
	},
	{
		ID: "collectionAudit", Summary: "List who changed what in a collection, newest first", Text: tailText, Group: administration,
		Method: "GET", Path: "/jobCollections/{c}/audit", Right: access.Administer,
		Subject: "audit.{c}", Follow: "follow-audit.{c}", Returns: "a page of who changed a collection and its jobs, newest first",
		Query: audit, Answer: "AuditRecordList", Line: "AuditRecord",
	},
	{
		ID: "audit", Summary: "List who changed what, newest first", Text: tailText, Group: administration,
		Method: "GET", Path: "/audit", Right: access.Administer,
		Subject: "audit", Follow: "follow-audit", Returns: "a page of who changed what, newest first",
		Query: audit, Answer: "AuditRecordList", Line: "AuditRecord",
	},
}

var adminOperations = []Operation{
	{
		ID: "listSecrets", Summary: "List the shared secrets, without their values", Group: administration,
		Method: "GET", Path: "/secrets", Right: access.Administer,
		Subject: "secret-list", Returns: "all shared secrets, without their values",
		Answer: "SharedSecretList",
	},
	{
		ID: "putSecret", Summary: "Make or replace a shared secret", Group: administration,
		Method: "PUT", Path: "/secrets/{name}", Right: access.Administer,
		Subject: "secret-put.{name}", Returns: "the secret, without its value",
		Body: "SharedSecretRequest", Answer: "SharedSecret", Statuses: put,
	},
	{
		ID: "deleteSecret", Summary: "Delete a shared secret", Group: administration,
		Method: "DELETE", Path: "/secrets/{name}", Right: access.Administer,
		Subject: "secret-delete.{name}", Returns: "nothing",
		Query: []Param{{Name: "force", Kind: Flag, Text: "also while jobs refer to it"}}, Errors: refused,
	},
	{
		ID: "rotateSecrets", Summary: "Seal everything with the first key", Group: administration,
		Method: "POST", Path: "/secrets/rotate", Served: "/secrets/{name}", Right: access.Administer,
		Subject: "secret-rotate", Returns: "what was sealed again",
		Bare: true, Answer: "Rotation",
	},
	{
		ID: "listTokens", Summary: "List the access tokens, without their texts", Group: administration,
		Method: "GET", Path: "/tokens", Right: access.Administer,
		Answer: "TokenList",
	},
	{
		ID: "createToken", Summary: "Make an access token, and show its text this once", Group: administration,
		Method: "POST", Path: "/tokens", Right: access.Administer,
		Body: "TokenRequest", Answer: "NewToken", Statuses: []int{http.StatusCreated},
	},
	{
		ID: "revokeToken", Summary: "Revoke an access token", Group: administration,
		Method: "DELETE", Path: "/tokens/{id}", Right: access.Administer,
		Answer: "Token", Errors: missing,
	},
	{
		ID: "doctor", Summary: "Compare jobs with the messages that make them run", Group: administration,
		Method: "POST", Path: "/doctor", Right: access.Administer,
		Query: []Param{{Name: "fix", Kind: Flag, Text: "mend what is found"}}, Bare: true, Answer: "DoctorReport",
	},
	{
		ID: "healthz", Summary: "Tell that the process lives", Group: administration,
		Method: "GET", Path: "/healthz", Right: access.Open,
		Answer: "ProcessStatus",
	},
	{
		ID: "readyz", Summary: "Tell whether the process can serve", Group: administration,
		Method: "GET", Path: "/readyz", Right: access.Open,
		Answer: "ProcessStatus", Errors: []int{http.StatusInternalServerError, http.StatusServiceUnavailable},
	},
	{
		ID: "metrics", Summary: "Tell what the process does, for Prometheus", Group: administration,
		Method: "GET", Path: "/metrics", Right: access.Read,
		Media: "text/plain", Errors: missing,
	},
	{
		ID: "jobSchema", Summary: "The JSON Schema of a job", Group: administration,
		Method: "GET", Path: "/schemas/job.json", Right: access.Open,
		Tagged: true, Answer: "JSONSchema", Media: schema.MediaType,
	},
	{
		ID: "collectionSchema", Summary: "The JSON Schema of a collection", Group: administration,
		Method: "GET", Path: "/schemas/collection.json", Right: access.Open,
		Tagged: true, Answer: "JSONSchema", Media: schema.MediaType,
	},
	{
		ID: "openapi", Summary: "This document", Group: administration,
		Method: "GET", Path: "/openapi.json", Right: access.Open,
		Tagged: true, Answer: "OpenAPI",
	},
}
