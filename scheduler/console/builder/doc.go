// Package builder is where people say when a job runs: by plain choices, which need no language, or in one of the languages
// of schedules. It is a part of pages, not a page: the template "builder" has the fields, all of whose names begin with
// [Prefix]; [Fields] says what they show of a job, and [Read] what was typed into them means.
//
// What a plain choice becomes is the simplest recurrence that says the same, and is shown, so that people learn it. A
// recurrence that is that of a plain choice is shown as one, any other in its language: what nobody changes stays as it is.
//
// While somebody types, the script asks [Room] what it means: in English, the next runs, a year ahead, what may be a
// mistake, and the problems beside their fields.
package builder
