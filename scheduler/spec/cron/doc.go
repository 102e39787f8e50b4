// Package cron implements the cron dialect of Obsidian Scheduler (the page "Cron" of its documentation), with L, W, #,
// years, zones, multiple patterns and @recur, and the dialect of dsari (the page "Schedule Format"), with hashed and
// random positions.
//
//	text ──Parse──▶ Expression or Recur ──Compile──▶ instant.Schedule
//
// [Expression] and [Recur] document the interpretation of these pages where they are silent.
//
// Guarantees: [Parse] reports all errors of a text with their columns and suggestions. Accepted text always compiles,
// even if it never fires. Descriptions are exact: two patterns with the same description fire at the same times.
package cron
