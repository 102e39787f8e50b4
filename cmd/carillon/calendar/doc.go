// Package calendar shows instants to people, as a [Table] and as [Months] in the manner of cal(1).
//
// A table shows every instant it is given; months say how many of them are not drawn. A table tells wherever the change of
// a clock has to do with an instant. Nothing depends on the time zone of the machine.
package calendar
