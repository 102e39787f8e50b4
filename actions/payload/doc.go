// Package payload makes what an attempt sends of what its job gives: the text, a template filled in, an envelope around
// it.
//
// The members are the same for every action type. They stand beside the text, or in the action around it:
//
//	template     true: the text is a template, see below. Default false
//	data         an object with values for the template; those of the same names in the job's own data count before them
//	envelope     none, or what the action type allows of cloudevents, cloudeventsBinary and azureScheduler. Default none
//	cloudEvent   type, source, subject and dataSchema of CloudEvents, each in place of what the scheduler would say
//
// # Templates
//
// A template is text with parts in double braces, in the language of package text/template, which renders it, but for
// loops and templates of its own, which there are not.
//
//	{{.Occurrence}}   id of the occurrence, collection/job@time
//	{{.Nominal}}      the instant that the schedule names
//	{{.Due}}          the instant that the attempt was planned for
//	{{.Previous}}     nominal time of the occurrence that ran before; empty when there was none
//	{{.Attempt}}      1 for the occurrence's first attempt
//	{{.Job}}          collection/job; .Job.Collection and .Job.Name are its parts
//	{{.Key}}          idempotency key, the same for every try
//	{{.Data.NAME}}    the value NAME in the data of the run, of the job, or next to the template
//	{{.Failure}}      of an errorAction, the message of what failed; .Failure.Status and .Failure.Attempts are numbers;
//	                  in a main action they are empty and 0
//
// Times print as RFC 3339 in UTC, with a fraction if there is one. Their methods:
//
//	{{.Nominal.Format "2006-01-02"}}     in a layout of Go; {{.Nominal | date "2006-01-02"}} is the same
//	{{.Nominal.In "Europe/Paris"}}       in a zone of the IANA database, with its offset; .UTC goes back
//	{{.Nominal.Add "-24h"}}              moved by a duration of Go or, as in -P1M, of ISO 8601
//	{{.Nominal.Truncate "24h"}}          rounded down on the wall clock: here to midnight, with 168h to a Monday's
//	{{.Nominal.Unix}} .UnixMilli         since 1970
//	{{.Nominal.Year}} .Month .Day .Hour .Minute .Second .YearDay .Weekday
//
// A method of a time that is none, such as .Previous at the first occurrence, returns no time, or nothing. A time that is
// none prints as nothing, is null as JSON, and is before all others.
//
// Of .Data, texts and numbers print as they are, objects and lists as JSON, and null as nothing. A name that is not there
// is refused, as are names that templates cannot write, such as a-b; {{json .Data}} has all.
//
// Functions: and, or, not, len as in package text/template, print, println and printf, too, with widths up to 256; eq, ne,
// lt, le, gt and ge, which compare numbers by what they are worth, times by the instant, and a job as its text; date; json (a
// value as JSON text, a text with its quotation marks); default (its first argument when the second is empty); upper,
// lower, trim, urlquery, base64; replace old new text; trunc n text (the first n characters).
//
// # What is guaranteed
//
//  1. A template with a mistake is refused when its job is put, with the line and, where it is known, the column. Names of
//     fields, methods and functions are looked up everywhere, also behind a condition. All else is tried with a job's
//     first occurrence, and with an errorAction that has all there can be: what neither of them reaches, such as an argument
//     behind a condition on .Failure.Status, can fail when it is sent.
//  2. Rendering ends. There are no loops; the output has 64 KiB at most, what a function makes 16 KiB; a template has
//     4,000 parts at most, and 64 calls of functions that make a text. What goes beyond is an error, and a failed attempt.
//  3. A template has no effect, and reads nothing but the attempt and its data: no secret, no environment, no clock. The same attempt
//     gives the same message, also after a crash.
//  4. A text that its envelope cannot hold is refused when its job is put, what a template makes of it when it is sent.
package payload
