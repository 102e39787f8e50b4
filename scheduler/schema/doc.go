// Package schema has the JSON Schemas (draft 2020-12) of what users write: jobs
// and collections.
//
// The readers of these documents describe them ([document.ShapeOf]), so that
// there is one source of what is right:
//
//   - A document that a reader accepts is valid, if its members are spelled as
//     here: readers take names in any letter case, and schemas cannot. Words may
//     be in any letter case, and texts may have a variable, ${CARILLON_…}, in
//     them, as in job files.
//   - Unknown members, also those of collections that are null, values of a
//     wrong kind, unknown words, and numbers out of range are not valid. What
//     readers look at more closely, such as the text of a cron expression, or
//     which members go together, schemas leave to them.
//
// [JobText] and [CollectionText] are part of the program, as files that a test
// keeps equal to [Job] and [Collection]; editors read them from a clone, too.
package schema
