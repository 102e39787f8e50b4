// Package schema generates the JSON Schemas (draft 2020-12) of the documents that users write: jobs and collections.
// The readers of these documents describe them ([document.ShapeOf]), so a field is defined once:
//
//		reader ──document.ShapeOf──▶ Shape + Description ──▶ JSON Schema, `carillon explain`, completion
//
//	  - A document that a reader accepts is valid, if field names have the spelling of the schema: readers accept any
//	    letter case, but schemas cannot. Enum words may have any letter case. As in job files, texts may contain
//	    variables, ${CARILLON_…}.
//	  - Unknown fields (in collections also null ones), values of the wrong kind, unknown enum words and numbers out of
//	    range are invalid. Readers alone check the details, such as the text of a cron expression and combinations of
//	    fields.
//
// [JobText] and [CollectionText] are embedded files. A test keeps them equal to [Job] and [Collection]; editors can
// read them from a clone.
package schema
