package newjob

import (
	"net/http"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// doPaste is the script's action after the paste of a whole job.
const doPaste = "paste"

// besides are the fields of a job's document outside its properties.
var besides = []string{"id", "type", "name", "collection", "etag", "tags", "properties"}

// pasted detects a whole job with an action in a text that was pasted into the schedule fields: JSON or YAML, including
// Azure Scheduler's form. It returns the properties, and the name if any.
func pasted(text string) (properties document.Value, name string, ok bool) {
	v, err := document.Parse([]byte(text))
	if err != nil || v.Kind() != document.KindObject {
		return document.Value{}, "", false
	}
	name = anyCase(v, "name").Text()
	if inner := anyCase(v, "properties"); inner.Kind() == document.KindObject {
		v = inner
	}
	return v, name[strings.LastIndexByte(name, '/')+1:], anyCase(v, "action").Kind() == document.KindObject
}

// anyCase returns a field by its name in any letter case, null if absent.
func anyCase(v document.Value, name string) document.Value {
	for _, m := range v.Members() {
		if strings.EqualFold(m.Name, name) {
			return m.Value
		}
	}
	return document.Value{}
}

// except removes fields, in any letter case.
func except(v document.Value, names ...string) document.Value {
	return document.ObjectValue(slices.DeleteFunc(slices.Clone(v.Members()), func(m document.Member) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, m.Name) })
	})...)
}

// takePasted shows the form of a pasted job, with its problems. The name and collection that were typed or selected
// before stay.
func (r room) takePasted(c *frame.Call, s *shown, in jobform.Input, before *typed, doc document.Value, name string) error {
	s.Pasted = true
	doc = except(doc, besides...)
	t := &typed{key: before.key, doc: doc, schedule: builder.Read(builder.Fields(doc.JSON()).Sent())}
	if t.key.Job == "" {
		t.key.Job = name
	}
	in.Values = nil
	in.Document = except(doc, scheduled...).
		With(document.StringValue(t.key.Job), "name").With(document.StringValue(t.key.Collection), "collection")
	s.Job = r.form().Read(in)
	s.Again = len(s.Job.Typed) > 0
	status := http.StatusOK
	checked := *t
	if checked.key.Job == "" { // the user has not typed it yet
		checked.key = scheduler.Key{Collection: t.key.Collection, Job: nameless}
	}
	if _, err := r.put(c, &checked, s, true); err != nil {
		status = r.refused(c, err, &checked, s)
	}
	return r.answer(c, s, t, status)
}
