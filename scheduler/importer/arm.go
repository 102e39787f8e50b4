package importer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// The types of Azure Scheduler's resources.
const (
	collectionType = "Microsoft.Scheduler/jobCollections"
	jobType        = "Microsoft.Scheduler/jobCollections/jobs"
)

// templates reads resource templates and exports with jobs and collections of Azure Scheduler, and these alone as its REST
// API answers them.
func templates(r *reading, data []byte) error {
	all, err := r.documents(data, "value")
	if err != nil {
		return err
	}
	for _, v := range all {
		resources, ok := v.Member("resources")
		if _, typed := v.Member("type"); !ok || typed {
			r.resource(v, "", nil)
			continue
		}
		t := &tree{v: v}
		for _, member := range []string{"$schema", "contentVersion", "parameters", "variables", "resources"} {
			t.take(member)
		}
		r.dropRest("the template", t, nil)
		for _, one := range resources.Items() {
			r.resource(one, "", newExpressions(v))
		}
	}
	return nil
}

// resource translates a resource and its nested resources, or its copies. within is the enclosing collection.
func (r *reading) resource(v document.Value, within string, x *expressions) {
	loop, isLoop := v.Member("copy")
	if x == nil || x.copying || !isLoop {
		r.oneResource(v, within, x)
		return
	}
	entry := cmp.Or(text(v, "name"), "a resource without a name")
	var unknown []string
	loop = x.evaluate(loop, "copy", &unknown)
	count, err := strconv.Atoi(text(loop, "count"))
	if err != nil || count < 0 || count > mostCopies {
		r.notef(Failed, entry, "copy.count", "must be a number of copies in 0-%d", mostCopies)
		return
	}
	for i := range count {
		r.oneResource(v.Without("copy"), within, x.copied(i))
	}
}

// mostCopies is Azure's limit of copies of a resource.
const mostCopies = 800

// text returns the text of a field or of its number; "" if it is absent or of another kind.
func text(v document.Value, name string) string { return (&tree{v: v}).text(name) }

// ofDeployment are the fields of a resource that describe its deployment only. Expressions in them need not be
// evaluated.
var ofDeployment = []string{"apiVersion", "dependsOn", "comments", "location"}

// oneResource translates a resource and those in it.
func (r *reading) oneResource(v document.Value, within string, x *expressions) {
	inner, _ := v.Member("resources")
	var unknown []string
	v = x.evaluate(v.Without("resources"), "", &unknown)
	unknown = slices.DeleteFunc(unknown, func(path string) bool { return slices.Contains(ofDeployment, path) })
	t := &tree{v: v}
	kind, name := t.text("type"), t.text("name")
	entry := cmp.Or(name, "a resource without a name")
	isJob := strings.EqualFold(kind, jobType) || strings.EqualFold(kind, "jobs") && within != "" ||
		kind == "" && within == "" && holds(v, "properties", "action")
	switch {
	case len(unknown) > 0:
		r.notef(Failed, entry, strings.Join(unknown, ", "),
			"contains expressions that cannot be evaluated: give the parameters defaults, or export the deployed resource")
	case t.text("condition") == "false":
		r.notef(Dropped, entry, "condition", "it is false: the template does not deploy it")
		for _, one := range inner.Items() {
			r.notef(Dropped, cmp.Or(text(one, "name"), entry), "", "is part of %s, which the template does not deploy", entry)
		}
		return
	case isJob:
		r.armJob(entry, t, within)
	case strings.EqualFold(kind, collectionType):
		r.armCollection(entry, t)
	default:
		r.notef(Failed, entry, "type", "%q is neither a job nor a collection of Azure Scheduler", kind)
		return
	}
	if strings.EqualFold(kind, collectionType) {
		for _, one := range inner.Items() {
			r.resource(one, name, x)
		}
	}
}

func holds(v document.Value, path ...string) (ok bool) {
	for _, name := range path {
		if v, ok = v.Member(name); !ok {
			return false
		}
	}
	return true
}

// ofAzure explains the fields of a resource that only Azure needs.
var ofAzure = map[string]string{
	"id": "is an identifier of Azure", "apiVersion": "describes the template", "dependsOn": "collections are applied before jobs",
	"location": "Carillon has no regions", "comments": "describes the template",
	"properties.status": "is a status of Azure", "etag": "is a status of Azure",
	"properties.provisioningState": "is a status of Azure",
}

// armJob copies a job: its properties have the same meaning in Carillon.
func (r *reading) armJob(entry string, t *tree, within string) {
	collection, name := within, t.text("name")
	if c, j, ok := strings.Cut(name, "/"); ok {
		collection, name = c, j
	}
	properties, _ := t.v.Member("properties")
	job := fields{}
	for _, m := range properties.Members() {
		path := "properties." + m.Name
		switch strings.ToLower(m.Name) {
		case "status", "provisioningstate":
			continue
		case "state":
			state := t.text(path)
			if s := scheduler.State(strings.ToLower(state)); s != scheduler.Enabled && s != scheduler.Disabled {
				r.notef(Changed, entry, path, "%s: it is disabled, so that it does not run again", state)
				state = string(scheduler.Disabled)
			}
			job.set("state", strings.ToLower(state))
			continue
		}
		t.take(path)
		job.set(m.Name, m.Value)
	}
	r.dropRest(entry, t, ofAzure)
	r.add(entry, cmp.Or(collection, r.Collection), name, job)
}

// armCollection copies a collection.
func (r *reading) armCollection(entry string, t *tree) {
	name := t.text("name")
	c := object("name", name, "type", collectionType)
	for _, member := range []string{"location", "tags"} {
		if v, ok := t.v.Member(member); ok && !strings.HasPrefix(v.Text(), "[") {
			t.take(member)
			c.set(member, v)
		}
	}
	properties := fields{}
	for _, member := range []string{"sku", "state", "quota"} {
		if v, ok := t.take("properties." + member); ok {
			properties.set(member, v)
		}
	}
	c.set("properties", properties)
	r.dropRest(entry, t, ofAzure)
	r.Jobs = append(r.Jobs, Job{scheduler.Key{Collection: name}, entry, document.ObjectValue(c...)})
}
