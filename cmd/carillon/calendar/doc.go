// Package calendar shows instants: to people as a [Table] and as [Months] in the manner of cal(1), to calendar programs as
// a [Feed] in iCalendar (RFC 5545).
//
// What is shown is what was given: no instant is left out, put together or moved. A table says wherever the change of a
// clock has to do with an instant, and a feed tells the same instants in UTC. Nothing depends on the time zone of the
// machine.
package calendar
