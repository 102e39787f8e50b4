// Package builder is the form for a job's schedule: plain choices, which need no language, or one of the schedule
// languages. It is a part of other pages. The template "builder" has the fields, whose names begin with [Prefix].
//
//	job ──► Fields ──► Form ──► browser ──► Read ──► Schedule ──► Look ──► Outlook
//	                     ▲                     │
//	                     └── pasted text ──────┘ Detect
//
// A plain choice becomes the simplest equivalent recurrence. The page shows that recurrence, so that users learn the
// language. If a recurrence corresponds to a plain choice, the form shows the choice; otherwise it shows the language.
// Unchanged fields keep their original text.
//
// While the user types, the script requests a preview from [Section]: a summary in English, the next runs, the year ahead,
// possible mistakes, and problems next to their fields.
package builder
