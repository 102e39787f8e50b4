package openapi

import (
	"net/http"

	"github.com/carillon-sched/carillon/scheduler/schema"
)

// tags are the groups of operations.
var tags = []Tag{
	{"Collections", "Groups of jobs, with quotas and rules."},
	{"Jobs", "What runs when."},
	{"History", "What ran, what is planned, and why."},
	{"Administration", "Secrets, tokens, and the process itself."},
	{"Azure", "The paths of Azure's resource manager, for clients of Azure Scheduler."},
	{"AWX", "Schedules as AWX has them."},
}

// The success that most operations have.
func ok(schema string) map[int]string { return map[int]string{http.StatusOK: schema} }

func put(schema string) map[int]string {
	return map[int]string{http.StatusOK: schema, http.StatusCreated: schema}
}

// missing is what is not there; either is that, or what its state or a quota does not allow.
var (
	missing = []int{http.StatusNotFound}
	either  = []int{http.StatusNotFound, http.StatusConflict}
)

const (
	collections    = "Collections"
	jobs           = "Jobs"
	history        = "History"
	administration = "Administration"
)

// The texts of several operations.
const (
	tailText = "With follow=true it is a live tail of what is recorded from now on, or after a sequence: a record on each line."
	dryText  = "With dryRun it answers 200 with what would be, and writes nothing."
)

// operations are those of the short paths, by method and path. Those below /jobCollections stand below a resource group, too.
var operations = map[string]Operation{
	"GET /jobCollections": {ID: "listCollections", Summary: "List the collections", Tag: collections, Answers: ok("CollectionList")},
	"PUT /jobCollections/{c}": {
		ID: "putCollection", Summary: "Create or replace a collection", Text: dryText, Tag: collections,
		Body: "Collection", MayEmpty: true,
		Answers: put("ShownCollection"), Tagged: true, Faults: []int{http.StatusConflict},
		ShortFaults: missing, // of a name that only a resource group gives
	},
	"GET /jobCollections/{c}": {
		ID: "getCollection", Summary: "Show a collection", Tag: collections, Answers: ok("ShownCollection"), Tagged: true, Faults: missing,
	},
	"PATCH /jobCollections/{c}": {
		ID: "patchCollection", Summary: "Merge into a collection (RFC 7396)", Text: dryText, Tag: collections, Body: "CollectionPatch",
		Answers: ok("ShownCollection"), Tagged: true, Faults: either,
	},
	"DELETE /jobCollections/{c}": {
		ID: "deleteCollection", Summary: "Delete a collection with its jobs and their histories", Tag: collections,
		Answers: ok(""), Faults: either,
	},
	"POST /jobCollections/{c}/enable": {
		ID: "enableCollection", Summary: "Let the jobs of a collection run", Tag: collections,
		Answers: ok("ShownCollection"), Tagged: true, Faults: missing,
	},
	"POST /jobCollections/{c}/disable": {
		ID: "disableCollection", Summary: "Stop the jobs of a collection", Tag: collections,
		Answers: ok("ShownCollection"), Tagged: true, Faults: missing,
	},
	"GET /jobCollections/{c}/jobs": {
		ID: "listJobs", Summary: "List the jobs of a collection, by name", Tag: jobs, Answers: ok("JobList"), Faults: missing,
	},
	"POST /jobCollections/{c}/jobs": {
		ID: "createJob", Summary: "Create a job of a name that nobody chose", Text: dryText, Tag: jobs, Body: "Job",
		Answers: put("ShownJob"),
		Tagged:  true, Located: true, Faults: either,
	},
	"PUT /jobCollections/{c}/jobs/{j}": {
		ID: "putJob", Summary: "Create or replace a job", Text: dryText, Tag: jobs, Body: "Job", Answers: put("ShownJob"),
		Tagged: true, Faults: either,
	},
	"GET /jobCollections/{c}/jobs/{j}": {
		ID: "getJob", Summary: "Show a job", Tag: jobs, Answers: ok("ShownJob"), Tagged: true, Faults: missing,
	},
	"PATCH /jobCollections/{c}/jobs/{j}": {
		ID: "patchJob", Summary: "Merge into a job (RFC 7396)", Text: dryText, Tag: jobs, Body: "JobPatch",
		Answers: ok("ShownJob"), Tagged: true, Faults: either,
	},
	"DELETE /jobCollections/{c}/jobs/{j}": {
		ID: "deleteJob", Summary: "Delete a job with its history", Tag: jobs, Answers: ok(""), Faults: missing,
	},
	"POST /jobCollections/{c}/jobs/{j}/run": {
		ID: "runJob", Summary: "Run a job now, in addition to its schedule", Text: "The document may be left out.", Tag: jobs,
		Body: "RunRequest", Answers: ok("StartedRun"), Faults: either,
	},
	"POST /jobCollections/{c}/jobs/{j}/resubmit": {
		ID: "resubmitJob", Summary: "Run an occurrence again that failed, was skipped or was postponed", Tag: jobs,
		Body:    "ResubmitRequest",
		Answers: ok("Resubmitted"), Faults: either,
	},
	"POST /jobCollections/{c}/jobs/{j}/enable": {
		ID: "enableJob", Summary: "Let a job run again that is disabled or paused", Tag: jobs,
		Answers: ok("ShownJob"), Tagged: true, Faults: either,
	},
	"POST /jobCollections/{c}/jobs/{j}/disable": {
		ID: "disableJob", Summary: "Stop a job until it is enabled", Tag: jobs, Answers: ok("ShownJob"), Tagged: true, Faults: either,
	},
	"POST /jobCollections/{c}/jobs/{j}/pause": {
		ID: "pauseJob", Summary: "Keep a job from starting anything until a time, after which it goes on by itself", Tag: jobs,
		Body:    "PauseRequest",
		Answers: ok("ShownJob"), Tagged: true, Faults: either,
	},
	"POST /jobCollections/{c}/jobs/{j}/cancel": {
		ID: "cancelJob", Summary: "End occurrences of a job that have begun, retries included", Text: "The document may be left out.",
		Tag: jobs, Body: "CancelRequest", Answers: ok("Cancellation"), Faults: either,
	},
	"POST /jobCollections/{c}/cancel": {
		ID: "cancelCollection", Summary: "End all occurrences of a collection that have begun, retries included",
		Text: "The document may be left out.", Tag: jobs, Body: "CancelCollectionRequest", Answers: ok("Cancellation"), Faults: missing,
	},
	"POST /jobCollections/{c}/jobs/{j}/try": {
		ID: "tryJob", Summary: "Make one attempt of a job now, and tell what became of it",
		Text: "The scheduler stores no record and does not retry. Without a document, or with {\"data\": {…}}, it tries the stored job.",
		Tag:  jobs,
		Body: "Job", Answers: ok("Trial"), Faults: either,
	},
	"GET /jobs": {
		ID: "listAllJobs", Summary: "List the jobs of all collections, by collection and name", Tag: jobs, Answers: ok("JobList"),
	},
	"POST /preview": {
		ID: "preview", Summary: "Tell when a job would run", Text: "Nothing is stored.", Tag: jobs,
		Body: "PreviewRequest", Answers: ok("Previewed"),
	},
	"GET /jobCollections/{c}/history":          tailed("collectionHistory", "List what ran in a collection, newest first", missing),
	"GET /jobCollections/{c}/jobs/{j}/history": tailed("jobHistory", "List what ran of a job, newest first", missing),
	"GET /history": tailed("history", "List what ran, newest first", nil),
	"GET /jobCollections/{c}/jobs/{j}/why": {
		ID: "why", Summary: "Tell why a job ran at a time, or did not", Tag: history, Answers: ok("Why"), Faults: missing,
	},
	"GET /jobCollections/{c}/jobs/{j}/account": {
		ID: "account", Summary: "Show each instant that was due in a period with its record, or the lack of one", Tag: history,
		Answers: ok("Account"), Faults: missing,
	},
	"GET /forecast": {
		ID: "forecast", Summary: "Count what is planned, and propose what lowers its peaks", Tag: history,
		Answers: ok("Forecast"), Faults: missing,
	},
	"GET /jobCollections/{c}/jobs/{j}/runs.ics": calendar("jobRuns", "The coming runs of a job, as a calendar", missing),
	"GET /jobCollections/{c}/runs.ics":          calendar("collectionRuns", "The coming runs of a collection, as a calendar", missing),
	"GET /runs.ics":                             calendar("runs", "The coming runs, as a calendar", nil),
	"GET /jobCollections/{c}/audit":             audited("collectionAudit", "List who changed what in a collection, newest first"),
	"GET /jobCollections/{c}/jobs/{j}/audit":    audited("jobAudit", "List who changed a job, newest first"),
	"GET /audit":                                audited("audit", "List who changed what, newest first"),
	"POST /operations": {
		ID: "createOperation", Summary: "Do one thing to many jobs", Tag: jobs, Body: "OperationRequest",
		Text: "With dryRun it answers 200 with the operation, and changes no job.", Answers: put("Operation"),
	},
	"GET /operations": {
		ID: "listOperations", Summary: "List the operations of the last 7 days, the newest first", Tag: jobs,
		Answers: ok("OperationList"),
	},
	"GET /operations/{id}": {
		ID: "getOperation", Summary: "Show an operation", Tag: jobs, Answers: ok("Operation"), Faults: missing,
	},
	"POST /operations/{id}/cancel": {
		ID: "cancelOperation", Summary: "Stop an operation between jobs", Tag: jobs, Answers: ok("Operation"), Faults: missing,
	},
	"GET /secrets": {
		ID: "listSecrets", Summary: "List the shared secrets, without their values", Tag: administration,
		Answers: ok("SharedSecretList"),
	},
	"PUT /secrets/{name}": {
		ID: "putSecret", Summary: "Make or replace a shared secret", Tag: administration, Body: "SharedSecretRequest",
		Answers: put("SharedSecret"),
	},
	"DELETE /secrets/{name}": {
		ID: "deleteSecret", Summary: "Delete a shared secret", Tag: administration, Answers: ok(""), Faults: either,
	},
	"POST /secrets/{name}": {
		ID: "rotateSecrets", Summary: "Seal everything with the first key", Path: "/secrets/rotate", Tag: administration,
		Answers: ok("Rotation"),
	},
	"GET /tokens": {
		ID: "listTokens", Summary: "List the access tokens, without their texts", Tag: administration, Answers: ok("TokenList"),
	},
	"POST /tokens": {
		ID: "createToken", Summary: "Make an access token, and show its text this once", Tag: administration, Body: "TokenRequest",
		Answers: map[int]string{http.StatusCreated: "NewToken"},
	},
	"DELETE /tokens/{id}": {
		ID: "revokeToken", Summary: "Revoke an access token", Tag: administration, Answers: ok("Token"), Faults: missing,
	},
	"POST /doctor": {
		ID: "doctor", Summary: "Compare jobs with the messages that make them run", Tag: administration,
		Answers: ok("DoctorReport"),
	},
	"GET /healthz": {ID: "healthz", Summary: "Tell that the process lives", Tag: administration, Answers: ok("ProcessStatus")},
	"GET /readyz": {
		ID: "readyz", Summary: "Tell whether the process can serve", Tag: administration, Answers: ok("ProcessStatus"),
		Faults: []int{http.StatusInternalServerError, http.StatusServiceUnavailable},
	},
	"GET /metrics": {
		ID: "metrics", Summary: "Tell what the process does, for Prometheus", Tag: administration, Answers: ok(""), Media: typeMetrics,
		Faults: missing,
	},
	"GET /schemas/job.json": {
		ID: "jobSchema", Summary: "The JSON Schema of a job", Tag: administration, Answers: ok("JSONSchema"),
		Media: schema.MediaType, Tagged: true,
	},
	"GET /schemas/collection.json": {
		ID: "collectionSchema", Summary: "The JSON Schema of a collection", Tag: administration, Answers: ok("JSONSchema"),
		Media: schema.MediaType, Tagged: true,
	},
	"GET /openapi.json": {
		ID: "openapi", Summary: "This document", Tag: administration, Answers: ok("OpenAPI"), Tagged: true,
	},
}

// tailed is a history.
func tailed(id, summary string, faults []int) Operation {
	return Operation{
		ID: id, Summary: summary, Text: tailText + " As server-sent events it is asked for by as=sse or Accept.", Tag: history,
		Answers: ok("HistoryRecordList"), Lines: "HistoryRecord", Events: true, Faults: faults,
	}
}

// audited is the audit log.
func audited(id, summary string) Operation {
	return Operation{
		ID: id, Summary: summary, Text: tailText, Tag: administration,
		Answers: ok("AuditRecordList"), Lines: "AuditRecord",
	}
}

func calendar(id, summary string, faults []int) Operation {
	return Operation{ID: id, Summary: summary, Tag: history, Answers: ok(""), Media: typeCalendar, Tag304: true, Faults: faults}
}
