// Package calendar prints instants for people, as a [Table] and as [Months] in the style of cal(1).
//
// A table shows all its instants; months report how many they omit. A table marks each instant that a clock
// change affects. The output does not depend on the machine's time zone.
package calendar
