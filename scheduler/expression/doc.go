// Package expression compiles and evaluates the expressions of event triggers: filters, keys and instants. Expressions
// are written in the Common Expression Language (CEL, https://cel.dev).
//
// # Variables
//
//	event.id, event.topic, event.collection, event.name   string
//	event.sequence                                        int
//	event.time                                            timestamp
//	event.attributes                                      map(string, string)
//	event.data                                            the decoded JSON of the event, of any type
//	job.name, job.collection                              string
//	job.labels                                            map(string, string)
//	job.data                                              of any type
//
// A misspelled field of event or job is an error of [Condition], [Text] and [Instant]. Fields below event.data and
// job.data are known only at evaluation: a missing one is an error there. has(event.data.total) tests for a field.
// has(event.data) is false for null.
//
// # Functions
//
// Expressions have CEL's standard functions and macros, and its extension libraries strings (replace, split, join,
// lowerAscii, …), math (math.greatest, …) and sets (sets.contains, …). No function reads the clock, so the same input
// always has the same result.
//
// Numbers of all types compare with each other: event.data.total > 100 holds for 100.5. Arithmetic needs operands of
// one type, and numbers of JSON are of type double: write event.data.total * 2.0, or int(event.data.total) % 2.
//
// # Limits
//
//   - The text has at most 4,096 bytes, and a key at most 256.
//   - At most 3 loops, such as all or map, nest or follow each other.
//   - An evaluation ends with an error if its cost exceeds 50,000. Cost is CEL's unit: about one operation, or ten bytes
//     or elements of an argument. The limit is a loop over 4,000 to 10,000 elements, and takes about 0.1 s.
//   - A call that would exceed the limit does not begin.
//   - A regular expression has at most 1,000 instructions, and takes at most 5,000,000 steps: instructions times bytes
//     of the text.
package expression
