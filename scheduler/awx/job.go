package awx

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// The labels of a schedule's job.
const (
	templateLabel = "awx.template"
	nameLabel     = "awx.name"
)

// jobPrefix is the prefix of the names of schedules' jobs, before the ID.
const jobPrefix = "awx-"

// maxID is the largest ID, because AWX's IDs have 31 bits.
const maxID = 1<<31 - 1

// FirstID returns the preferred ID of a new schedule. If it is taken, try the following IDs (see [NextID]).
func FirstID(template scheduler.Key, name string) int {
	sum := sha256.Sum256([]byte(template.String() + "\n" + name))
	return NextID(int(binary.BigEndian.Uint32(sum[:4]) >> 1))
}

// NextID returns the ID to try after a taken one.
func NextID(id int) int { return id%maxID + 1 }

// JobName returns the name of a schedule's job.
func JobName(id int) string { return jobPrefix + strconv.Itoa(id) }

// IDOf returns the ID of the schedule with that job name, false if the name cannot belong to a schedule.
func IDOf(job string) (int, bool) {
	digits, ok := strings.CutPrefix(job, jobPrefix)
	if !ok {
		return 0, false
	}
	return ParseID(digits)
}

// ParseID reads an id.
func ParseID(text string) (int, bool) {
	id, err := strconv.Atoi(text)
	return id, err == nil && id > 0 && id <= maxID && strconv.Itoa(id) == text
}

// IsSchedule reports whether a job is a schedule. The template must be in the same collection, because any user can set
// the labels: otherwise a schedule could copy the action, with its secrets, of any job.
func IsSchedule(j *scheduler.Job) bool {
	_, ok := IDOf(j.Key.Job)
	template, err := TemplateKey(TemplateOf(j))
	return ok && err == nil && template.Collection == j.Key.Collection && template.String() == TemplateOf(j) &&
		j.Def.Timing.Recurrence != nil && rruleOf(j) != ""
}

// MayBeSchedule reports whether a stored job may be a schedule, without decoding it.
func MayBeSchedule(data []byte) bool { return bytes.Contains(data, []byte(`"`+templateLabel+`"`)) }

// NameOf returns the name of a schedule.
func NameOf(j *scheduler.Job) string { return j.Def.Labels[nameLabel] }

// TemplateOf returns the name of a schedule's template, collection/job.
func TemplateOf(j *scheduler.Job) string { return j.Def.Labels[templateLabel] }

// EnabledOf reports whether a schedule is enabled, even if it has ended.
func EnabledOf(j *scheduler.Job) bool { return j.State != scheduler.Disabled }

// rruleOf returns the recurrence of a schedule as the client wrote it.
func rruleOf(j *scheduler.Job) string {
	recurrence, _ := j.Def.Document().Member("recurrence")
	rrule, _ := recurrence.Member("rrule")
	return rrule.Text()
}

// ownMembers are the fields of a template that its schedules do not inherit: they have their own, or none.
var ownMembers = []string{"startTime", "recurrence", "timeZone", "dst", "state", "description", "data", "labels"}

// New returns the properties of the job for a new schedule of a template. They can be put over an existing job.
func New(template *scheduler.Job, q Request) document.Value {
	properties := template.Def.Document().Without(ownMembers...)
	action, _ := properties.Member("action")
	action = withDefaults(action, template.Def.Data)
	properties = with(properties, "action", action)
	labels := maps.Clone(template.Def.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[templateLabel] = template.Key.String()
	properties = with(properties, "labels", texts(labels))
	return changed(properties, scheduler.Enabled, q)
}

// Changed returns the properties of a schedule's job, changed by a request.
func Changed(j *scheduler.Job, q Request) document.Value {
	return changed(j.Def.Document(), stateOf(EnabledOf(j)), q)
}

// Replaced returns the properties of a schedule's job with the template's current action, changed by a request.
// Attributes that the request omits keep their values.
func Replaced(j, template *scheduler.Job, q Request) document.Value {
	enabled, description, name, rrule := EnabledOf(j), j.Def.Description, NameOf(j), rruleOf(j)
	kept := Request{Name: &name, Description: &description, RRule: &rrule, Enabled: &enabled}
	if data := j.Def.Data; data.Kind() == document.KindObject {
		kept.ExtraData = &data
	}
	return changed(New(template, kept), stateOf(enabled), q)
}

func stateOf(enabled bool) scheduler.State {
	if enabled {
		return scheduler.Enabled
	}
	return scheduler.Disabled
}

// changed returns properties changed by a request. state is the state of the job.
func changed(properties document.Value, state scheduler.State, q Request) document.Value {
	if q.Name != nil {
		labels, _ := properties.Member("labels")
		properties = with(properties, "labels", with(labels, nameLabel, document.StringValue(*q.Name)))
	}
	if q.RRule != nil {
		properties = with(properties, "recurrence", document.ObjectValue(
			document.Member{Name: "rrule", Value: document.StringValue(*q.RRule)},
			document.Member{Name: "dialect", Value: document.StringValue("awx")},
		))
	}
	if q.Description != nil {
		properties = with(properties, "description", document.StringValue(*q.Description))
	}
	if q.ExtraData != nil {
		properties = with(properties, "data", *q.ExtraData)
	}
	if q.Enabled != nil {
		state = stateOf(*q.Enabled)
	}
	return with(properties, "state", document.StringValue(string(state)))
}

// with returns an object with a field set.
func with(object document.Value, name string, v document.Value) document.Value {
	members := slices.Clone(object.Members())
	for i := range members {
		if members[i].Name == name {
			members[i].Value = v
			return document.ObjectValue(members...)
		}
	}
	return document.ObjectValue(append(members, document.Member{Name: name, Value: v})...)
}

func texts(byName map[string]string) document.Value {
	members := make([]document.Member, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		members = append(members, document.Member{Name: name, Value: document.StringValue(byName[name])})
	}
	return document.ObjectValue(members...)
}

// withDefaults returns an action whose templates carry the job's data: the data of a schedule may omit some of these
// values.
func withDefaults(action, data document.Value) document.Value {
	if data.Kind() != document.KindObject {
		return action
	}
	if onError, ok := action.Member("errorAction"); ok {
		action = with(action, "errorAction", eachWithDefaults(onError, data))
	}
	place, templated := "", isTrue(action, "template")
	for _, m := range action.Members() {
		if m.Name == "errorAction" || m.Value.Kind() != document.KindObject {
			continue
		}
		templated = templated || isTrue(m.Value, "template")
		if _, ok := m.Value.Member("data"); ok && m.Name != "data" {
			place = m.Name
		}
	}
	if !templated {
		return action
	}
	if place == "" {
		return with(action, "data", over(action, data))
	}
	inner, _ := action.Member(place)
	return with(action, place, with(inner, "data", over(inner, data)))
}

// eachWithDefaults applies withDefaults to an errorAction: one action or a list.
func eachWithDefaults(onError, data document.Value) document.Value {
	if onError.Kind() != document.KindArray {
		return withDefaults(onError, data)
	}
	all := slices.Clone(onError.Items())
	for i, one := range all {
		all[i] = withDefaults(one, data)
	}
	return document.ArrayValue(all...)
}

// over returns the data of a template, overridden by data.
func over(object, data document.Value) document.Value {
	all, _ := object.Member("data")
	for _, m := range data.Members() {
		all = with(all, m.Name, m.Value)
	}
	return all
}

func isTrue(object document.Value, name string) bool {
	v, _ := object.Member(name)
	return v.Bool()
}

// notAllowed is AWX's message for variables that a template does not prompt for.
const notAllowed = "Variables %s are not allowed on launch. " +
	"Check the Prompt on Launch setting on the Job Template to include Extra Variables."

// Check refuses extra_data that no template of the definition uses, as AWX does.
func Check(d *scheduler.Definition) error {
	var unused []string
	for _, m := range d.Data.Members() {
		if !d.UsesData(m.Name) {
			unused = append(unused, m.Name)
		}
	}
	if unused == nil {
		return nil
	}
	return Errors{{"extra_data", fmt.Sprintf(notAllowed, strings.Join(unused, ", "))}}
}
