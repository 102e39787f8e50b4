package importer

import (
	"cmp"
	"strconv"
	"strings"
)

// awxSchedules reads schedules of AWX: an answer of /api/v2/schedules/, or what awx export prints.
func awxSchedules(r *reading, data []byte) error {
	all, err := r.documents(data, "results", "schedules")
	if err != nil {
		return err
	}
	for _, v := range all {
		r.awxSchedule(&tree{v: v})
	}
	return nil
}

// answered explains the fields of an AWX response that are not settings.
var answered = map[string]string{
	"related": "is a link of AWX", "summary_fields": "is display data of AWX", "url": "is a link of AWX", "type": "follows from the job",
	"created": "is a status of AWX", "modified": "is a status of AWX", "next_run": "follows from the rule",
	"dtstart": "is part of the rule", "dtend": "follows from the rule", "timezone": "is part of the rule", "until": "is part of the rule",
	"natural_key": "is said by the name and the template",
}

func (r *reading) awxSchedule(t *tree) {
	name, rule := t.text("name"), t.text("rrule")
	entry := cmp.Or(name, "a schedule without a name")
	if rule == "" {
		r.notef(Failed, entry, "rrule", "missing: the entry is not a schedule of AWX")
		return
	}
	id := cmp.Or(t.text("unified_job_template"), t.text("unified_job_template.id"))
	template := cmp.Or(t.text("summary_fields.unified_job_template.name"), t.text("unified_job_template.name"))
	kind := cmp.Or(t.text("summary_fields.unified_job_template.unified_job_type"), t.text("unified_job_template.type"))
	body := fields{}
	if n, err := strconv.Atoi(id); err == nil {
		body.set("unified_job_template", n)
	}
	body.set("name", template)
	body.set("type", kind)
	for _, asked := range []string{
		"extra_data", "inventory", "limit", "job_tags", "skip_tags", "job_type", "scm_branch", "verbosity", "diff_mode",
		"credentials", "execution_environment", "forks", "instance_groups", "job_slice_count", "labels", "timeout",
	} {
		if v, ok := t.take(asked); ok && !isEmpty(v) {
			body.set(asked, v)
		}
	}
	action, ok := r.run(entry, "a template of AWX", map[string]string{"name": template, "id": id}, body)
	if !ok {
		return
	}
	job := object("description", strings.TrimSpace(t.text("description")), "recurrence", object("dialect", "awx", "rrule", rule))
	if t.text("enabled") == "false" {
		job.set("state", "disabled")
	}
	action.set("retryPolicy", noRetry)
	job.set("action", action)
	t.take("id")
	r.dropRest(entry, t, answered)
	r.add(entry, r.Collection, name, job)
}
