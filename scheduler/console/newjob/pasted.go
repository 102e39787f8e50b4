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

// doPaste is what the script asks for when a whole job was pasted.
const doPaste = "paste"

// besides are the members of a job's document that are not its properties.
var besides = []string{"id", "type", "name", "collection", "etag", "tags", "properties"}

// pasted finds a whole job in what was pasted where schedules are: with an action, in JSON or YAML, also as Azure Scheduler has
// it. It returns the properties, and the name if there is one.
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

// anyCase returns a member, in whatever letter case its name is: null for none.
func anyCase(v document.Value, name string) document.Value {
	for _, m := range v.Members() {
		if strings.EqualFold(m.Name, name) {
			return m.Value
		}
	}
	return document.Value{}
}

// except leaves members out, in any letter case.
func except(v document.Value, names ...string) document.Value {
	return document.ObjectValue(slices.DeleteFunc(slices.Clone(v.Members()), func(m document.Member) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, m.Name) })
	})...)
}

// takePasted shows the form of a whole job that was pasted, with what is wrong with it. The name and the collection that were
// typed or chosen before stay.
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
	if checked.key.Job == "" { // it is still to be typed: that is no mistake yet
		checked.key = scheduler.Key{Collection: t.key.Collection, Job: nameless}
	}
	if _, err := r.put(c, &checked, s, true); err != nil {
		status = r.refused(c, err, &checked, s)
	}
	return r.answer(c, s, t, status)
}
