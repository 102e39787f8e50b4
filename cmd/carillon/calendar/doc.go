// Package calendar shows instants: to people as a [Table] and as [Months] in the manner of cal(1), to calendar
// programs as a [Feed] in iCalendar (RFC 5545).
//
// A table and a feed show every instant they are given, each by itself; months say how many of them are not drawn. A
// table tells wherever the change of a clock has to do with an instant. Nothing depends on the time zone of the
// machine.
package calendar
