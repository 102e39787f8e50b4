// Package document reads a JSON or YAML document strictly and reports everything that is wrong with it at once.
//
// Reading has two steps. [Parse] turns text into a [Value], a tree that keeps the order of members and the text of
// numbers. A [Reader] then walks the tree: each [Object] is asked for the members it may have, and whatever is missing,
// of the wrong kind, out of range or unknown becomes a [Problem] with the path of the member, such as
// "action.request.uri" or "recurrence.schedule.hours[2]". A caller reads a whole document to its end and only then looks
// at [Reader.Err].
//
// Guarantees:
//
//  1. No field is ignored. A member that nobody asked for is a problem, and the nearest known name is proposed.
//  2. No text panics. Size, nesting, what YAML aliases expand to, and what is told of problems are bounded, and a text costs
//     what it weighs: of 16 KB, which is what the APIs take, none takes more than 50 ms of processor time or 32 MB.
//  3. A duplicate name, invalid UTF-8 or text after the document is refused, never resolved by guessing.
//  4. A tree that was read without problems is canonical: names and enum words have taken the spelling that the reader
//     asked for. Reading rewrites the tree, so it belongs to one goroutine; afterwards a Value is safe for concurrent use.
//  5. What [Value.JSON] writes, Parse reads back as an equal Value.
//
// Member names compare exactly first and then without regard to case, because Azure Scheduler's inputs do (its own
// samples write both "occurrence" and "Occurrence"). A null member counts as absent.
package document
