// Package document strictly parses JSON and YAML documents and reports all problems of a document together.
//
//	text ──Parse──▶ Value (a tree) ──Reader, Object──▶ Go values, or Problems with paths
//	                  └──Value.JSON, Value.YAML──▶ text
//
// [Parse] keeps the order of fields and the text of numbers. A [Reader] then walks the tree: for each [Object], the
// caller reads the fields that it supports. A missing, unknown, mistyped or out-of-range field becomes a [Problem] with
// a path, such as "action.request.uri" or "recurrence.schedule.hours[2]". Read the whole document before you check
// [Reader.Err].
//
// Guarantees:
//
//  1. No field is ignored. A field that the caller did not read is a problem, and its message suggests the nearest
//     name.
//  2. No text panics. Size, nesting, YAML alias expansion and reported problems are bounded. Parsing 16 KB, the limit
//     of the APIs, takes at most 50 ms of processor time and 32 MB.
//  3. Duplicate names, invalid UTF-8 and text after the document are refused, never resolved by guessing.
//  4. A tree that was read without problems is canonical: field names and enum words have the spelling that the reader asked
//     for. Reading rewrites the tree, so one goroutine must own it. Afterwards a Value is safe for concurrent use.
//  5. Parse reads the output of [Value.JSON] as an equal Value.
//
// A field name matches exactly or else in any letter case, because Azure Scheduler accepts both (its samples contain
// "occurrence" and "Occurrence"). A null field counts as absent.
package document
