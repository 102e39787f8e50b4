// Package work bounds what the schedule languages may cost. A few kilobytes of text can ask for more than a processor does
// in a minute; so every loop over days, steps or rules counts on a [Meter], which has a budget for each question, and a
// question that is too costly is told to be so, rather than answered wrong or late.
package work
