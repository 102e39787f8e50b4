package importer

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// obsidian reads jobs of Obsidian Scheduler, as the endpoints /rest/jobs and /rest/jobs/ID answer them.
func obsidian(r *reading, data []byte) error {
	all, err := r.documents(data, "jobs")
	if err != nil {
		return err
	}
	for _, v := range all {
		r.obsidianJob(v)
	}
	return nil
}

// obsidianJob makes a job of each schedule of one: Obsidian lets follow one on the other at given dates.
func (r *reading) obsidianJob(v document.Value) {
	schedules, _ := v.Member("schedules")
	items := schedules.Items()
	if len(items) == 0 {
		items = []document.Value{v.Only("schedule", "effectiveDate", "endDate", "status", "state", "activeStatus", "customCalendarName")}
	}
	for i, item := range items {
		t, s := &tree{v: v}, &tree{v: item}
		for _, member := range item.Members() {
			if len(schedules.Items()) == 0 {
				t.take(member.Name) // it is read of the schedule
			}
		}
		t.take("schedules")
		name := cmp.Or(t.text("nickname"), t.text("jobClass"))
		entry := cmp.Or(name, "a job without a name")
		if len(items) > 1 {
			entry = fmt.Sprintf("%s, schedule %d", name, i+1)
		}
		r.obsidianSchedule(entry, name, t, s)
	}
}

func (r *reading) obsidianSchedule(entry, name string, t, s *tree) {
	pattern, class := s.text("schedule"), t.text("jobClass")
	if pattern == "" || class == "" {
		r.notef(Failed, entry, "", "without schedule and jobClass: not a scheduled job of Obsidian")
		return
	}
	job, recurrence := object("description", cmp.Or(t.text("description"), "Obsidian job "+name)), object("cron", pattern)
	for _, date := range []string{"effectiveDate", "endDate"} {
		text := s.text(date)
		if text == "" {
			continue
		}
		at, err := obsidianTime(text)
		if err != nil {
			r.notef(Failed, entry, date, "%q is no date such as 2026-12-31T23:59:59-0800", text)
			return
		}
		if date == "effectiveDate" {
			job.set("startTime", at)
		} else {
			recurrence.set("endTime", at)
		}
	}
	job.set("recurrence", recurrence)
	if !namesZone(pattern) {
		job.set("timeZone", r.zone(entry, "", "the zone of the cluster"))
	}
	switch status := strings.ToUpper(cmp.Or(s.text("status"), s.text("state"), s.text("activeStatus"))); status {
	case "", "ENABLED":
	case "DISABLED":
		job.set("state", "disabled")
	default:
		r.notef(Changed, entry, "status", "%s: the job is disabled; enable it to run it by its schedule", status)
		job.set("state", "disabled")
	}
	r.obsidianPolicies(entry, t, &job)
	body := object("jobClass", class)
	for _, given := range []string{"nickname", "parameters", "hosts", "folder"} {
		if v, ok := t.take(given); ok && !isEmpty(v) {
			body.set(given, v)
		}
	}
	action, ok := r.run(entry, "a Java class", map[string]string{"name": name, "id": t.text("jobId")}, body)
	if !ok {
		return
	}
	action.set("retryPolicy", obsidianRetries(t))
	job.set("action", action)
	r.dropRest(entry, t, nil)
	for _, id := range []string{"jobId", "scheduleId"} {
		s.take(id)
	}
	r.dropRest(entry, s, nil)
	r.add(entry, r.Collection, name, job)
}

// obsidianTime reads a time of Obsidian's API, yyyy-MM-dd'T'HH:mm:ssZ.
func obsidianTime(text string) (string, error) {
	at, err := time.Parse("2006-01-02T15:04:05Z0700", text)
	if err != nil {
		at, err = time.Parse(time.RFC3339, text)
	}
	return at.Format(time.RFC3339), err
}

// namesZone reports whether every pattern of a schedule has its time zone, the seventh field.
func namesZone(pattern string) bool {
	for one := range strings.SplitSeq(pattern, ";") {
		if len(strings.Fields(one)) < 7 {
			return false
		}
	}
	return true
}

// obsidianPolicies translates which missed times run, and how late.
func (r *reading) obsidianPolicies(entry string, t *tree, job *fields) {
	policy := "once"
	switch recovery := strings.ToUpper(t.text("recoveryType")); recovery {
	case "", "LAST", "CONFLICT_LAST":
	case "ALL":
		policy = "all"
	case "NONE":
		policy = "skip"
	default:
		r.notef(Changed, entry, "recoveryType", "%s: of the missed times the last one runs", recovery)
	}
	catchUp := object("policy", policy)
	if minutes, ok := t.number("pickupBufferMinutes"); ok && minutes > 0 {
		catchUp.set("window", fmt.Sprintf("PT%dM", minutes))
	}
	job.set("catchUp", catchUp)
}

// obsidianRetries translates the retries of a failed job. Obsidian's default is none.
func obsidianRetries(t *tree) fields {
	count, _ := t.number("autoRetryCount")
	minutes, _ := t.number("autoRetryInterval")
	kind := "fixed"
	if t.text("autoRetryIntervalExponent") == "true" {
		kind = "exponential"
	}
	return retries(kind, fmt.Sprintf("PT%dM", max(minutes, 1)), count, "")
}
