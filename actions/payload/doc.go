// Package payload builds the payload of an attempt from its job: it renders the template and adds the envelope.
//
//	text ── template with data ──▶ rendered text ── envelope ──▶ Message
//
// The fields are the same for every action type, next to the text or in the action around it:
//
//	template     true: the text is a template, see below. Default: false
//	data         an object with values for the template; the job's own data take precedence
//	envelope     none, cloudevents, cloudeventsBinary or azureScheduler, if the action type allows it. Default: none
//	cloudEvent   type, source, subject and dataSchema of CloudEvents, in place of the scheduler's values
//
// # Templates
//
// A template is text with actions in double braces, in the language of package text/template, without loops and nested
// templates.
//
//	{{.Occurrence}}   id of the occurrence, collection/job@time
//	{{.Nominal}}      the scheduled time
//	{{.Due}}          the planned time of the attempt
//	{{.Previous}}     nominal time of the previous run occurrence; empty without one
//	{{.Attempt}}      1 for the occurrence's first attempt
//	{{.Job}}          collection/job; .Job.Collection and .Job.Name are its parts
//	{{.Key}}          idempotency key, the same for every attempt
//	{{.Data.NAME}}    the value NAME in the data of the run, of the job, or next to the template
//	{{.Event}}        the last event that started the run; .Event.ID, .Topic, .Sequence, .Time, .Attributes.NAME and
//	                  .Event.Data, a value of any type with its fields below
//	{{.Events}}       all events as a list: {{json .Events}}, {{len .Events}}
//	{{.Trigger}}      .Trigger.Topic of the last event, .Trigger.Key of the listener, .Trigger.Count of the events
//	{{.Upstream}}     the occurrence whose end started the run: .Upstream.Job (also .Job.Collection, .Job.Name),
//	                  .Occurrence, .Outcome, .Status, .Message and .Response
//	{{.Failure}}      of an errorAction, the message of the failure; .Failure.Status and .Failure.Attempts are numbers;
//	                  in a main action they are empty and 0
//
// Times print as RFC 3339 in UTC, with a fraction if there is one. Their methods:
//
//	{{.Nominal.Format "2006-01-02"}}     in a Go layout; {{.Nominal | date "2006-01-02"}} is the same
//	{{.Nominal.In "Europe/Paris"}}       in a zone of the IANA database, with its offset; .UTC goes back
//	{{.Nominal.Add "-24h"}}              moved by a duration of Go or, as in -P1M, of ISO 8601
//	{{.Nominal.Truncate "24h"}}          rounded down on the wall clock: here to midnight, with 168h to a Monday's
//	{{.Nominal.Unix}} .UnixMilli         since 1970
//	{{.Nominal.Year}} .Month .Day .Hour .Minute .Second .YearDay .Weekday
//
// A missing time, such as .Previous at the first occurrence, prints as nothing, is null as JSON, and is before all other
// times. Its methods return a missing time or nothing.
//
// In .Data, texts and numbers print unchanged, objects and lists as JSON, and null as nothing. A missing name is refused, as
// are names that templates cannot express, such as a-b; {{json .Data}} has all.
//
// Below .Event.Data the rules are the same, but only the attempt knows the names. A missing one fails it permanently,
// with an error that names it; a missing attribute is an empty text. {{get .Event.Data "customer" "tier"}} is the value
// at a path that may be missing: then it prints as nothing, like a value of a run without events. In a run without
// events, such as a manual run, .Event and the values of its data print as nothing, are null as JSON, and compare as
// before all others; .Event.Sequence is 0 and .Events is empty. {{with .Event}} distinguishes such runs.
//
// Functions: and, or, not, len as in package text/template, print, println and printf, too, with widths up to 256; eq,
// ne, lt, le, gt and ge, which compare numbers by value, times by instant, and a job as its text; date; json (a value
// as JSON, a text with its quotation marks); default (its first argument if the second is empty); get; upper, lower,
// trim, urlquery, base64; replace old new text; trunc n text (the first n characters).
//
// # Guarantees
//
//  1. A template with a mistake is refused when its job is put, with the line and, if known, the column. Names of fields,
//     methods and functions are checked everywhere, also behind a condition. The rest is tested with a job's first
//     occurrence, and with an errorAction that has every field; every name below .Event.Data is empty. Parts that neither
//     reaches, such as an argument behind a condition on .Failure.Status, can still fail an attempt.
//  2. Rendering ends: a template has no loops. Limits: 512 KiB of output, and of an object or a list as JSON; 16 KiB of any
//     other function result, 4,000 parts, and 64 calls of functions that produce text. Exceeding one is an error, and a
//     failed attempt.
//  3. A template has no side effects, and reads only the attempt and its data: no secrets, environment or clock. The same
//     attempt produces the same message, also after a crash.
//  4. A text that its envelope cannot carry is rejected with its job; rendered text is checked at the attempt.
package payload
