// Package calendar is the mathematics of days and of times of day: whole numbers, no zones, no clocks.
//
// Days are counted from 1970-01-01, months from January of the year 0, in the proleptic Gregorian calendar from the
// year 1 to the year 9999. Its sets, from the plainest to the most particular:
//
//   - [Cycle]: every n-th number, and patterns of such steps that repeat themselves.
//   - [Times]: hours with minutes with seconds of a day.
//   - [MonthDays]: days of a month, by the weekday on which it begins and by its length.
//   - [YearDays]: days of a year, by the weekday on which it begins and by where the leap years are.
//   - [Dates]: those of them that lie in every n-th day, month or year.
//
// Guarantees: every set finds its next and its last element, and counts, by arithmetic or within [SearchLimit] steps;
// none of that allocates. What meets so rarely that a search would take long is looked up once, when the set is made.
// Sets are not changed after they are made, and safe for concurrent use.
package calendar
