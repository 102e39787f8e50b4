// Package cron is the cron of Obsidian Scheduler (the page "Cron" of its documentation), with L, W, #, years, zones,
// several patterns and @recur, and that of dsari (the page "Schedule Format"), with hashed and random positions.
// [Expression] and [Recur] say how these pages are read where they are silent.
//
// Guarantees: [Parse] reports everything that is wrong with a text, at its column and with what was probably meant;
// what it accepts always compiles, also if it never fires. A description is exact: two patterns with one description
// fire at the same times.
package cron
