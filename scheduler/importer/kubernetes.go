package importer

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// cronJobs reads CronJobs of Kubernetes (batch/v1), as manifests or as kubectl prints them.
func cronJobs(r *reading, data []byte) error {
	all, err := r.documents(data, "items")
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.Kind() != document.KindNull { // an empty document between two lines of ---
			cronJob(r, &tree{v: v})
		}
	}
	return nil
}

// keptInCluster states what happens to the parts of a CronJob that remain in the cluster.
var keptInCluster = map[string]string{
	"spec.jobTemplate": "stays in the cluster: the runner makes a Job of it, as kubectl create job --from=cronjob/… does",
	"status":           "is a status of the cluster", "metadata": "identifies it in the cluster",
	"spec.successfulJobsHistoryLimit": "the cluster keeps Jobs; the history of Carillon has its own age",
	"spec.failedJobsHistoryLimit":     "the cluster keeps Jobs; the history of Carillon has its own age",
}

func cronJob(r *reading, t *tree) {
	kind, name, namespace := t.text("kind"), t.text("metadata.name"), t.text("metadata.namespace")
	t.take("apiVersion")
	if namespace == "" {
		namespace = "default"
	}
	entry := namespace + "/" + name
	if kind != "CronJob" || name == "" {
		entry = cmp.Or(strings.Trim(kind+" "+name, " "), "a document without a name")
		r.notef(Failed, entry, "kind", "not a CronJob with a name")
		return
	}
	job := object("description", "CronJob "+entry)
	if !r.cronJobTimes(entry, t, &job) {
		return
	}
	if t.text("spec.suspend") == "true" {
		job.set("state", "disabled")
	}
	r.cronJobPolicies(entry, t, &job)
	body := object("kind", kind, "namespace", namespace, "name", name)
	action, ok := r.run(entry, "a pod", map[string]string{"name": name, "namespace": namespace}, body)
	if !ok {
		return
	}
	action.set("retryPolicy", r.backoff(entry, t))
	job.set("action", action)
	r.dropRest(entry, t, keptInCluster)
	r.add(entry, r.Collection, name, job)
}

// cronJobTimes translates the schedule, which Kubernetes reads as robfig/cron does.
func (r *reading) cronJobTimes(entry string, t *tree, job *fields) bool {
	text, zone := t.text("spec.schedule"), t.text("spec.timeZone")
	for _, prefix := range []string{"CRON_TZ=", "TZ="} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			zone, text, _ = strings.Cut(rest, " ")
		}
	}
	text = strings.TrimSpace(text)
	if every, ok := strings.CutPrefix(text, "@every "); ok {
		d, err := time.ParseDuration(every)
		if err != nil || d < time.Second {
			r.notef(Failed, entry, "spec.schedule", "%s: %q is not a duration of at least a second", text, every)
			return false
		}
		r.notef(Changed, entry, "spec.schedule",
			"%s counts from the creation of the job, not from the start of the controller", text)
		frequency, interval := everyWhich(d.Round(time.Second))
		job.set("recurrence", object("frequency", frequency, "interval", interval))
		return true
	}
	if pattern, ok := nicknames[strings.ToLower(text)]; ok {
		text = pattern
	}
	if len(strings.Fields(text)) != 5 {
		r.notef(Failed, entry, "spec.schedule", "%q has not five fields", text)
		return false
	}
	job.set("recurrence", object("cron", strings.ReplaceAll(text, "?", "*")))
	job.set("timeZone", r.zone(entry, zone, "the zone of the controller, usually UTC,"))
	return true
}

// everyWhich is a duration as a frequency and an interval, in the largest unit that it is a multiple of.
func everyWhich(d time.Duration) (frequency string, interval int) {
	switch {
	case d%time.Hour == 0:
		return "hour", int(d / time.Hour)
	case d%time.Minute == 0:
		return "minute", int(d / time.Minute)
	}
	return "second", int(d / time.Second)
}

// cronJobPolicies translates the policies for overlapping and missed runs.
func (r *reading) cronJobPolicies(entry string, t *tree, job *fields) {
	switch policy := t.text("spec.concurrencyPolicy"); policy {
	case "", "Allow":
		job.set("overlap", "allow")
	case "Forbid":
		job.set("overlap", "skip")
	default:
		r.notef(Changed, entry, "spec.concurrencyPolicy", "%s: a due run does not replace a running one; it waits for it", policy)
		job.set("overlap", "skip")
	}
	catchUp := object("policy", "once")
	if seconds, ok := t.number("spec.startingDeadlineSeconds"); ok {
		catchUp.set("window", "PT"+strconv.Itoa(seconds)+"S")
	} else {
		r.notef(Changed, entry, "spec.startingDeadlineSeconds",
			"not set: a missed run catches up within an hour, not at any later time")
	}
	job.set("catchUp", catchUp)
}

// backoff translates how often a Job is tried (batch/v1: six times, after 10 s, 20 s and so on up to six minutes).
func (r *reading) backoff(entry string, t *tree) fields {
	const field = "spec.jobTemplate.spec.backoffLimit"
	count, ok := t.number(field)
	if !ok {
		count = 6
	}
	if count != 0 {
		r.notef(Changed, entry, field,
			"the request is repeated %d times, after 15 s, 30 s and so on up to six minutes; have the Job try once", count)
	}
	return retries("exponential", "PT15S", count, "PT6M")
}
