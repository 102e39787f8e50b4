// Package calendar computes with days and times of day as integers, without zones and clocks.
//
// Days count from 1970-01-01, months from January of the year 0, in the proleptic Gregorian calendar of the years 1 to
// 9999. The sets, from simple to complex:
//
//   - [Cycle]: every n-th number, and periodic patterns of such steps.
//   - [Times]: hours, minutes and seconds of a day.
//   - [MonthDays]: days of a month, by its first weekday and its length.
//   - [YearDays]: days of a year, by its first weekday and the position of leap years.
//   - [Dates]: YearDays in every n-th day, month or year.
//
// Guarantees: every set finds its next and last element, and counts, by arithmetic or within [SearchLimit] steps,
// without allocation. Rare intersections that would make searches long are listed when the set is created. Sets are
// immutable and safe for concurrent use.
package calendar
