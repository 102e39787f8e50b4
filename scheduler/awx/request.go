package awx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// MaxName is the maximum length in bytes of a schedule's name, the same as of a label. AWX allows 512 characters.
const MaxName = 256

// Request holds the fields of a request; absent fields are nil.
type Request struct {
	Name, Description, RRule, Template *string
	Enabled                            *bool
	ExtraData                          *document.Value // an object
}

// reader parses a request and collects its errors.
type reader struct {
	body   document.Value
	errors Errors
}

// Read parses a request body, which must be an object. needed lists required fields. Fields that AWX ignores are
// ignored. Fields that AWX refuses for a template without prompts are refused. The error is an [Errors].
func Read(body document.Value, needed ...string) (Request, error) {
	r := &reader{body: body}
	for _, field := range needed {
		if _, ok := body.Member(field); !ok {
			r.add(field, required)
		}
	}
	q := Request{
		Name: r.text("name"), Description: r.optional("description"), RRule: r.text("rrule"),
		Template: r.text("unified_job_template"), Enabled: r.truth("enabled"), ExtraData: r.object("extra_data"),
	}
	if q.Name != nil && len(*q.Name) > MaxName {
		r.add("name", fmt.Sprintf("Ensure this field has no more than %d bytes.", MaxName))
	}
	r.printable("name", q.Name)
	if q.RRule != nil {
		r.rrule(*q.RRule)
	}
	for _, field := range prompts {
		if v, ok := body.Member(field); ok && !empty(v) {
			r.add(field, notPrompt)
		}
	}
	return q, r.errors.err()
}

// add records errors of a field.
func (r *reader) add(field string, messages ...string) {
	for _, message := range messages {
		r.errors = append(r.errors, FieldError{field, message})
	}
}

// prompts are the fields for templates that prompt on launch.
var prompts = []string{
	"inventory", "scm_branch", "job_type", "job_tags", "skip_tags", "limit", "diff_mode", "verbosity", "execution_environment",
	"forks", "job_slice_count", "timeout",
}

// empty reports whether a value requests nothing.
func empty(v document.Value) bool {
	return v.Kind() == document.KindNull || v.Kind() == document.KindString && v.Text() == ""
}

// text returns a field that must not be blank.
func (r *reader) text(field string) *string {
	text := r.optional(field)
	if text != nil && *text == "" {
		r.add(field, notBlank)
		return nil
	}
	return text
}

// optional returns a field that may be blank, with surrounding space removed.
func (r *reader) optional(field string) *string {
	v, ok := r.body.Member(field)
	switch {
	case !ok:
	case v.Kind() == document.KindNull:
		r.add(field, notNull)
	case v.Kind() == document.KindNumber: // AWX accepts numbers as texts, and its clients send IDs as numbers
		text := v.String()
		return &text
	case v.Kind() != document.KindString:
		r.add(field, notString)
	case strings.ContainsRune(v.Text(), 0):
		r.add(field, noNull)
	default:
		text := strings.TrimSpace(v.Text())
		return &text
	}
	return nil
}

// printable reports control characters in a field. AWX accepts all but NUL, but users can neither see nor type them.
func (r *reader) printable(field string, text *string) {
	if text == nil {
		return
	}
	if i := strings.IndexFunc(*text, unicode.IsControl); i >= 0 {
		c, _ := utf8.DecodeRuneInString((*text)[i:])
		r.add(field, fmt.Sprintf("Control characters are not allowed: U+%04X.", c))
	}
}

// truth returns a boolean field, in any spelling that AWX accepts.
func (r *reader) truth(field string) *bool {
	v, ok := r.body.Member(field)
	if !ok {
		return nil
	}
	on := v.Bool()
	if v.Kind() != document.KindBool {
		switch strings.ToLower(v.Text()) {
		case "true", "t", "yes", "y", "on", "1":
			on = true
		case "false", "f", "no", "n", "off", "0":
		default:
			r.add(field, notBool)
			return nil
		}
	}
	return &on
}

// object returns a field that is an object, or a text with an object in JSON or YAML. Blank and null are the empty
// object.
func (r *reader) object(field string) *document.Value {
	v, ok := r.body.Member(field)
	if !ok {
		return nil
	}
	if v.Kind() == document.KindString && strings.TrimSpace(v.Text()) != "" {
		parsed, err := document.Parse([]byte(v.Text()))
		if err != nil {
			r.add(field, "Cannot parse as JSON or YAML: "+err.Error())
			return nil
		}
		v = parsed
	}
	if empty(v) || strings.TrimSpace(v.Text()) == "" && v.Kind() == document.KindString {
		v = document.ObjectValue()
	}
	if v.Kind() != document.KindObject {
		r.add(field, "Expected a dictionary of items but got "+v.Kind().String()+".")
		return nil
	}
	v = document.Merge(document.ObjectValue(), v) // removes null fields
	return &v
}

// rrule reports errors in a recurrence.
func (r *reader) rrule(text string) {
	_, err := spec.ParseRRule(text, spec.AWX)
	if wrong, ok := errors.AsType[spec.AWXErrors](err); ok {
		r.add("rrule", wrong.Messages()...)
	} else if err != nil {
		r.add("rrule", err.Error())
	}
}

// TemplateKinds are the collections of AWX's API whose resources have schedules. AWX numbers them together; here, all
// are jobs.
var TemplateKinds = []string{"job_templates", "projects", "inventory_sources", "system_jobs", "workflow_job_templates"}

// TemplateKey parses the name of a template: collection.job, collection/job or, as in AWX's named URLs,
// job++collection. A job alone is in the default collection. Job names begin with a letter, so the number 7 is the job
// template-7.
func TemplateKey(name string) (scheduler.Key, error) {
	k := scheduler.Key{Collection: scheduler.DefaultCollection, Job: name}
	if job, collection, ok := strings.Cut(name, "++"); ok {
		k = scheduler.Key{Collection: collection, Job: job}
	} else if i := strings.IndexAny(name, "./"); i >= 0 {
		k = scheduler.Key{Collection: name[:i], Job: name[i+1:]}
	}
	if _, number := ParseID(k.Job); number {
		k.Job = "template-" + k.Job
	}
	return k, k.Validate()
}

// Errors are the errors of a request by field, in AWX's format: {"name": ["message", …], …}.
type Errors []FieldError

// FieldError is an error in a field.
type FieldError struct{ Field, Message string }

// AWX's messages, which come from its framework.
const (
	required   = "This field is required."
	notNull    = "This field may not be null."
	notBlank   = "This field may not be blank."
	notString  = "Not a valid string."
	noNull     = "Null characters are not allowed."
	notBool    = "Must be a valid boolean."
	notPrompt  = "Field is not configured to prompt on launch."
	notUnique  = "Schedule with this Unified job template and Name already exists."
	everything = "__all__" // the key for errors that belong to no single field
)

// NotUnique is the error for a name that another schedule of the template already has.
func NotUnique() Errors { return Errors{{everything, notUnique}} }

// NoTemplate is the error for a template that does not exist.
func NoTemplate(name string) Errors {
	return Errors{{"unified_job_template", `Invalid pk "` + name + `" - object does not exist.`}}
}

// FixedTemplate is the error for an attempt to change a schedule's template.
func FixedTemplate(has scheduler.Key) Errors {
	const message = "The template of a schedule cannot be changed, here that is %s: make another schedule."
	return Errors{{"unified_job_template", fmt.Sprintf(message, has)}}
}

// Error returns all messages, one per line, each with its field.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Field + ": " + one.Message
	}
	return strings.Join(lines, "\n")
}

// Document returns the body of the answer.
func (e Errors) Document() document.Value {
	var fields []string
	messages := map[string][]document.Value{}
	for _, one := range e {
		if !slices.Contains(fields, one.Field) {
			fields = append(fields, one.Field)
		}
		messages[one.Field] = append(messages[one.Field], document.StringValue(one.Message))
	}
	members := make([]document.Member, len(fields))
	for i, field := range fields {
		members[i] = document.Member{Name: field, Value: document.ArrayValue(messages[field]...)}
	}
	return document.ObjectValue(members...)
}

// err returns the errors, nil for none.
func (e Errors) err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// fields maps paths of a job to fields of a schedule.
var fields = []struct{ path, field string }{
	{"recurrence", "rrule"}, {"data", "extra_data"}, {"description", "description"}, {"labels", "name"},
}

// Explain converts problems of a schedule's job to errors of the schedule's fields. Problems outside these fields are
// in the template.
func Explain(problems document.Problems) Errors {
	var all Errors
	for _, p := range problems {
		at := slices.IndexFunc(fields, func(f struct{ path, field string }) bool {
			return p.Path == f.path || strings.HasPrefix(p.Path, f.path+".") || strings.HasPrefix(p.Path, f.path+"[")
		})
		if at < 0 {
			all = append(all, FieldError{"unified_job_template", p.Error()})
			continue
		}
		all = append(all, FieldError{fields[at].field, p.Message})
	}
	return all
}
