// Package forecast counts the planned runs per minute and target, finds the peaks, and proposes edits that lower them.
// It is pure:
//
//	definitions ──Add──▶ Forecast ──Report──▶ Report ──Propose──▶ Report with Proposals
//	                         └──Slots──▶ Slots of a calendar
//
// A [Forecast] scales to many jobs, because jobs that run in the same minutes share a class that is computed once. There is one
// class per step and first minute for jobs with equal steps, one per text for schedules that do not depend on the job,
// and one per pattern of minutes for the others. A job that runs every second costs no more than a job that runs every
// minute.
//
// A [Report] contains scheduled runs only, without manual runs, retries and misfire handling (catch-up). It applies the
// exact jitter of each occurrence, and the positions that are hashed from the job's name.
package forecast
