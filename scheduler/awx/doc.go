// Package awx maps schedules of the AWX API to jobs: it parses requests, creates the properties of jobs, and shows jobs
// as schedules. It is pure and does not access the store.
//
// An AWX job template is an ordinary job, usually a disabled one that only holds an action. Each of its schedules is a
// separate job in the same collection. It has the action and policies that the template had when the schedule was
// created, a recurrence in the dialect AWX, and extra_data as its data. Labels store the other attributes of a
// schedule:
//
//	awx.template   collection/job of the template
//	awx.name       the schedule's name, any text
//
// The job is named awx-ID. The ID is a number derived from the names of the template and the schedule. Two requests
// that create the same schedule therefore use the same key, and the store accepts only one of them.
package awx
