// Package jobform shows a job document as a form, and converts the submitted form to a document.
//
//	Input: document, stored secrets, submitted values ──► Form.Read ──► Reading: sections of fields (HTML)
//	                                                                        └──► document, problems
//
// Guarantees:
//
//  1. The fields, with their descriptions, words and limits, come from the parsers of jobs ([document.ShapeOf]), which also
//     supply editors and `carillon explain`. A new field of jobs appears in the form automatically.
//  2. The form edits a document and does not build a new one: untouched fields stay unchanged, including unknown ones and
//     values that no field can show.
//  3. Invalid input is not lost. It is in the document as typed, or in its field if no document can contain it, and
//     [Reading.Problems] has the reason.
//  4. A [Field] contains no secret. A form has the path of a stored secret only. A typed secret is in [Reading.Document]
//     only.
//  5. The server adds and removes rows, so that the form works without scripts.
package jobform
