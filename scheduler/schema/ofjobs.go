package schema

// ofJobs describes what a job has beside its action, by the end of its path.
var ofJobs = map[string]Description{
	"job": {"A job: when to run, what to do, and what becomes of failures.", "", ""},

	"job.name": {
		"The job's name, or collection/name. In a file with several jobs each must have one.", "the name of the file", "nightly-report",
	},
	"job.collection": {"The collection that the job is in.", "default", "partners"},
	"job.properties": {"The members of the job. They may stand at the top of the document as well.", "", ""},
	"job.id":         {"Shown: the job's path. It is not read when a job is put.", "", ""},
	"job.type":       {"Shown: what kind of document this is. Microsoft.Scheduler/jobCollections makes it a collection.", "", ""},
	"job.etag":       {"Shown: changes with every edit of the job.", "", ""},
	"job.result":     {"Shown: created, updated or unchanged.", "", ""},
	"job.warnings":   {"Shown: what is allowed and may not be meant so.", "", ""},
	"job.dryRun":     {"Shown: what a dry run found out.", "", ""},
	"job.status":     {"Shown: when the job runs next, and what it has done.", "", ""},

	"job.pausedUntil": {
		"A job starts nothing before this instant, and goes on by itself then. What falls due meanwhile is recorded as skipped; " +
			"a job that runs once runs at the end. Its state stays enabled; null ends a pause.", "as it is; none for a new job",
		"2027-01-07T09:00:00+01:00",
	},
	"job.state": {
		"Whether the job runs by its schedule. It can be run by hand in either state.", "as it is; enabled for a new job", "disabled",
	},
	"job.data": {
		"Values for the templates of the job's actions, as {{.Data.region}}. They are no secrets.", "none", `{"region": "eu"}`,
	},
	"job.input": {
		"A JSON Schema of the data that a manual run may give to the templates. Its properties are names that templates may use.",
		"none: only names that a template uses", `{"properties": {"order": {"type": "integer"}}, "required": ["order"]}`,
	},
	"job.startTime": {
		"When the job begins: ISO 8601, in UTC unless it has an offset. A job without recurrence runs at this time, once.",
		"now", "2026-12-07T09:00:00+01:00",
	},
	"job.timeZone": {
		"The time zone of a cron or rrule schedule that names none itself: an IANA name, or an offset.", "UTC", "Europe/Berlin",
	},
	"job.dst":     {"What becomes of times that a change of the clock leaves out or repeats.", "the schedule language's own way", ""},
	"dst.gap":     {"A time that the clock jumps over runs at the next one there is, later by the gap, or not at all.", "", "next"},
	"dst.overlap": {"A time that the clock shows twice runs the first time, or both times.", "", "first"},
	"job.recurrence": {
		"When the job runs again: by frequency and interval as in Azure Scheduler, or by a cron or rrule text.", "the job runs once", "",
	},
	"frequency": {"The unit in which the job recurs. It stands in place of cron and rrule.", "", "day"},
	"interval":  {"How many units of frequency there are from one time to the next.", "1", "2"},
	"count":     {"How many times the job runs. It is over then, or at endTime, whichever comes first.", "no limit", "10"},
	"endTime":   {"When the job is over: ISO 8601, in UTC unless it has an offset.", "never", "2027-01-01T00:00:00Z"},
	"cron":      {"A cron expression, in the dialect of Obsidian or dsari.", "", "15 5,17 * * 1-5"},
	"rrule": {
		"A recurrence of RFC 5545: DTSTART, RRULE, EXRULE, RDATE and EXDATE, the last two not in awx or dsari.",
		"", "RRULE:FREQ=DAILY;BYHOUR=9",
	},
	"dialect": {"How cron or rrule is read: obsidian or dsari of cron; rfc5545, awx or dsari of rrule.", "obsidian, or rfc5545", "dsari"},
	"anchor": {
		"The base of the interval of a frequency or an @recur: the grid of startTime, or the start of the last execution.",
		"grid, and lastExecution of @recur", "lastExecution",
	},
	"schedule":  {"At which times of its unit a recurrence with a frequency runs, in UTC.", "those of startTime", ""},
	"minutes":   {"Minutes of the hour, 0 to 59.", "that of startTime", "[0, 30]"},
	"hours":     {"Hours of the day, 0 to 23.", "that of startTime", "[9, 17]"},
	"weekDays":  {"Days of the week, with frequency week.", "that of startTime", `["Monday", "Friday"]`},
	"monthDays": {"Days of the month, with frequency month: 1 to 31, or from its end, -1 to -31.", "that of startTime", "[1, -1]"},
	"months":    {"Months of the year, 1 to 12, with frequency year.", "that of startTime", "[1, 7]"},
	"monthlyOccurrences": {
		"Weekdays of the month, such as the last Friday, with frequency month.", "none", `[{"day": "Friday", "occurrence": -1}]`,
	},
	"monthlyOccurrences.day":        {"The day of the week.", "", "Friday"},
	"monthlyOccurrences.occurrence": {"Which of them in the month: 1 to 5, or from its end, -1 to -5.", "each", "-1"},

	"job.jitter":  {"Each occurrence is put off by its own share of this, always the same.", "none", "PT5M"},
	"job.timeout": {"How long one attempt may take.", "PT60S", "PT2M"},
	"job.lateAfter": {
		"How late an occurrence may begin. The history marks later ones as late, and a metric counts them for an alert.",
		"none", "PT1M",
	},
	"job.overlap":    {"Whether an occurrence that falls due while the one before runs is skipped, or runs beside it.", "skip", "allow"},
	"job.catchUp":    {"Which of the times run that were missed while no scheduler ran.", "once, of those in the last hour", ""},
	"catchUp.policy": {"The last of the missed times runs once, all of them do, or none.", "once", "all"},
	"catchUp.window": {
		"How late a missed time may still start.", "PT1H; without a limit for a job that runs once", "PT15M",
	},
	"job.labels":      {"Texts by name, to pick jobs by.", "none", `{"team": "billing"}`},
	"job.description": {"A text for people, of at most 1,024 bytes.", "", "Sends the report of the day before."},
}
