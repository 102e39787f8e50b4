// Package jobform is a job document as a form: its fields for people, and the document again of what they typed.
//
// # Guarantees
//
//  1. The form has what readers of jobs take, as they describe it ([document.ShapeOf]), with the descriptions, words and
//     bounds that editors and `carillon explain` tell: what a job may have tomorrow is in the form tomorrow.
//  2. It edits a document, and does not build one: a member that nobody touched is as it was, also one that the form does not
//     know, and a value that no field can show.
//  3. Nothing that was typed is lost because it is wrong. It stands in the document as it was typed, or in the field alone
//     where no document can have it, and [Reading.Problems] says why.
//  4. No secret is ever in a [Field]: neither one that is stored, of which a form knows the place alone, nor one that was just
//     typed, which is in [Reading.Document] and nowhere else.
//  5. Rows are added and removed on the server, so this works without scripts.
package jobform
