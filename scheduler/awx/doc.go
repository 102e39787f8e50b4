// Package awx has the schedules of AWX's API: it reads requests for them, makes jobs of them, and shows jobs as them. It is
// pure, and knows no store.
//
// A template, AWX's job template, is a job like any other, mostly a disabled one that is there for its action. A schedule of
// it is a job of its own in the same collection: with the action and the policies that the template had when the schedule
// was made, a recurrence in AWX's dialect, and extra_data as its data. What else AWX knows of a schedule is in labels:
//
//	awx.template   collection/job of the template
//	awx.name       the schedule's name, which is any text
//
// The job is called awx-ID. The id is a number made of the names of the template and the schedule, so that two requests that
// make the same schedule meet at one key, of which the store gives only one of them.
package awx
