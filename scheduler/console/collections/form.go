package collections

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// form holds the settings of a collection as field values, the targets as YAML, and the ETag of the collection when the form
// was opened.
type form map[string]string

// The choices of its fields.
var (
	plans       = []string{string(scheduler.Free), string(scheduler.Standard), string(scheduler.P10Premium), string(scheduler.P20Premium)}
	frequencies = []string{"second", "minute", "hour", "day", "week", "month", "year"}
)

// PlanChoices returns the plans.
func (form) PlanChoices() []string { return plans }

// FrequencyChoices returns the units of a recurrence.
func (form) FrequencyChoices() []string { return frequencies }

// The paths of the settings in a collection's properties.
const (
	planPath      = "sku"
	maxJobsPath   = "quota.maxJobCount"
	oftenPath     = "quota.maxRecurrence"
	minRetryPath  = "minRetryInterval"
	targetsPath   = "targets"
	planName      = "name"
	frequencyName = "frequency"
	intervalName  = "interval"
)

// formOf fills the fields with a collection's settings.
func formOf(c *scheduler.Collection) form {
	p, _ := c.Settings()
	f := form{"etag": c.ETag()}
	for _, one := range fields {
		f[one.field] = jobform.At(p, one.value).Text()
	}
	f["frequency"] = strings.ToLower(f["frequency"])
	if t := jobform.At(p, targetsPath); len(t.Members()) > 0 {
		f["targets"] = string(t.YAML())
	}
	return f
}

// sent parses a submitted form.
func sent(values url.Values) form {
	f := form{"etag": strings.TrimSpace(values.Get("etag"))}
	for _, one := range fields {
		f[one.field] = strings.TrimSpace(values.Get(one.field))
	}
	return f
}

// over returns the document of a collection with these settings. Fields of the document that the form lacks stay
// unchanged.
func (f form) over(ctx context.Context, c *scheduler.Collection) ([]byte, error) {
	properties, top := c.Settings()
	if properties.Kind() != document.KindObject { // it is damaged
		properties = document.ObjectValue()
	}
	set := func(field, path string, value document.Value) {
		if f[field] == "" {
			properties = jobform.Without(properties, []string{path})
			return
		}
		properties = properties.With(value, path)
	}
	set("plan", planPath, document.ObjectValue().With(document.StringValue(f["plan"]), planName))
	set("maxJobs", maxJobsPath, number(f["maxJobs"]))
	often := document.ObjectValue().With(document.StringValue(f["frequency"]), frequencyName)
	if f["interval"] != "" {
		often = often.With(number(f["interval"]), intervalName)
	}
	set("frequency", oftenPath, often)
	if f["interval"] != "" && f["frequency"] == "" {
		return nil, scheduler.Invalid(oftenPath, words.Text("collections.unit.missing"))
	}
	set("minRetry", minRetryPath, document.StringValue(f["minRetry"]))
	var targets document.Value
	if f["targets"] != "" {
		var err error
		if targets, err = flow.Parse(ctx, []byte(f["targets"])); err != nil {
			return nil, scheduler.Invalid(targetsPath, err.Error())
		}
	}
	set("targets", targetsPath, targets)
	members := append([]document.Member{}, top.Members()...)
	return document.ObjectValue(append(members, document.Member{Name: "properties", Value: properties})...).JSON(), nil
}

// number returns a typed number. Other text stays as it is, and the document's parser reports it.
func number(text string) document.Value {
	if n, err := strconv.Atoi(text); err == nil {
		return document.NumberValue(strconv.Itoa(n)) // JSON does not allow 007 and +7
	}
	return document.StringValue(text)
}

// often describes the maximum frequency of jobs.
func often(r spec.Recurrence) string {
	return words.Count("collections.often."+strings.ToLower(r.Frequency.String()), max(1, r.Interval))
}

// faults are problems by field.
type faults map[string][]string

// fields are the fields with the paths of their values and of the problems that they show, the more specific paths first.
var fields = []struct{ field, value, path string }{
	{"plan", planPath + "." + planName, planPath},
	{"maxJobs", maxJobsPath, maxJobsPath},
	{"interval", oftenPath + "." + intervalName, oftenPath + "." + intervalName},
	{"frequency", oftenPath + "." + frequencyName, oftenPath},
	{"minRetry", minRetryPath, minRetryPath},
	{"targets", targetsPath, targetsPath},
}

// byField splits a problem into details that belong to fields and the rest.
func byField(c *frame.Request, p *frame.Problem) (faults, *frame.Problem) {
	by, rest := faults{}, *p
	rest.Details = nil
	for _, d := range p.Details {
		field, text := fieldOf(d.Path)
		if field == "" {
			rest.Details = append(rest.Details, d)
			continue
		}
		by[field] = append(by[field], strings.TrimSpace(text+" "+d.Message))
	}
	if len(by) > 0 {
		rest.Text = c.Text("collections.wrong")
	}
	return by, &rest
}

// fieldOf returns the field of a path and the remaining path; "" for a path without a field.
func fieldOf(path string) (field, within string) {
	path = strings.TrimPrefix(path, "properties.")
	for _, one := range fields {
		if rest, ok := strings.CutPrefix(path, one.path); ok && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
			if rest = strings.TrimPrefix(rest, "."); rest != "" && one.field == "targets" {
				within = rest + ":"
			}
			return one.field, within
		}
	}
	return "", ""
}

// Wrong returns the problems of a field as one text; "" for none.
func (f faults) Wrong(field string) string { return strings.Join(f[field], "; ") }
