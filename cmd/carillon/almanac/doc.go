// Package almanac shows instants: to people as a [Table] and as [Months] in the manner of cal(1), to calendar programs
// as a [Feed] in iCalendar.
package almanac
