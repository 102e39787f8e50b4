// Package forecast tells what jobs are going to load: how many runs are planned in
// each minute of a span of time, for each target, where the peaks are, and what would
// lower them. It is pure: definitions are added to a [Forecast], which makes a
// [Report].
//
// It is made for many jobs. Runs are counted by the minute, so that jobs which run in
// the same minutes are one class, worked out once: of those that recur in equal steps,
// one class for each step and first minute; of the texts of schedules that do not
// depend on the job, one for each text; of all others, one for each pattern of
// minutes. A job of every second costs no more than one of every minute.
//
// What is told is what schedules plan. Runs by hand, retries and catching up are not
// in it. Jitter is, with the very share that each occurrence will have, and so are the
// positions that are hashed from a job's name.
package forecast
