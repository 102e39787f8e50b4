// Package work limits the cost of schedule queries. A few kilobytes of text can require more than a minute of processor
// time. Every loop over days, steps or rules therefore counts on a [Meter], which has a budget for each query. A query
// that exceeds its budget is reported as too expensive, never answered late or wrong.
package work
