package schema

// ofCollections describes what a collection has, by the end of its path.
var ofCollections = map[string]Description{
	"collection": {"A collection: jobs with common quotas, limits for their targets, and one switch.", "", ""},

	"collection.name":       {"The collection's name.", "the name of the file", "partners"},
	"collection.properties": {"What the collection allows its jobs.", "", ""},
	"collection.location":   {"A text for people. Azure Scheduler has its region here.", "none", "westeurope"},
	"collection.tags":       {"Texts by name, for people.", "none", `{"team": "billing"}`},
	"collection.id":         {"The collection's path. That of Azure's resource manager says its subscription and resource group.", "", ""},
	"collection.type":       {"Microsoft.Scheduler/jobCollections, which tells a collection from a job in files.", "", ""},
	"collection.etag":       {"Shown: changes with every edit of the collection.", "", ""},
	"collection.result":     {"Shown: created, updated or unchanged.", "", ""},
	"collection.dryRun":     {"Shown: what a dry run found out.", "", ""},

	"collection.state": {
		"Whether its jobs run. disabled and suspended postpone them and change none; deleted cannot be asked for.",
		"as it is; enabled for a new one", "disabled",
	},
	"sku":      {"The collection's plan, as Azure Scheduler had them.", "none", ""},
	"sku.name": {"The plan, with quotas where the collection has none of its own.", "none", "Standard"},
	"defaults": {
		"Settings that jobs inherit unless they set them: errorAction, retryPolicy, timeout, lateAfter and labels.",
		"none",
		`{"labels": {"team": "billing"}, "timeout": "PT2M"}`,
	},
	"minRetryInterval": {
		"How soon a failed attempt of its jobs may be tried again at the least.", "PT15S, or what the process has", "PT1M",
	},
	"quota": {
		"How many jobs the collection may have, and how often they may recur.", "that of its plan, or no limit", "",
	},
	"maxJobCount":      {"How many jobs it may have, completed ones included.", "that of its plan, or no limit", "50"},
	"maxJobOccurrence": {"Without effect, as in Azure Scheduler.", "", ""},
	"maxRecurrence": {
		"The most often that a job may recur, told by frequency and interval.", "that of its plan, or no limit", "",
	},
	"targets":     {"What its jobs may do to a target, by the target's name.", "no rules", ""},
	"targets.*":   {"The rules of a target: a host, host:port, *.example.com for all below, or * for each other one.", "", ""},
	"concurrency": {"How many attempts may be under way at once, in each process.", "what the process allows", "4"},
	"rate":        {"How many attempts may begin in a length of time, spread evenly.", "no limit", ""},
	"rate.limit":  {"How many attempts.", "", "100"},
	"rate.per":    {"In which time.", "PT1S", "PT1M"},
	"circuitBreaker": {
		"When attempts to a target in trouble are postponed: without an answer, or with 408, 429 or 5xx.", "never", "",
	},
	"circuitBreaker.failures": {"How many failures in a row open the circuit.", "5", "10"},
	"openFor":                 {"How long it stays open, until one attempt finds out whether the target is back.", "PT30S", "PT1M"},
	"maxPostponement":         {"How long an attempt is postponed at the most; then it runs all the same.", "PT10M", "PT1H"},
}
