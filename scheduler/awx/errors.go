package awx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Errors are what is wrong with a request, by its fields, as AWX tells it: {"name": ["message", …], …}.
type Errors []FieldError

// FieldError is one thing wrong with a field.
type FieldError struct{ Field, Message string }

// The messages of AWX, which those of the framework are that it is made with.
const (
	required   = "This field is required."
	notNull    = "This field may not be null."
	notBlank   = "This field may not be blank."
	notString  = "Not a valid string."
	noNull     = "Null characters are not allowed."
	notBool    = "Must be a valid boolean."
	notPrompt  = "Field is not configured to prompt on launch."
	notUnique  = "Schedule with this Unified job template and Name already exists."
	everything = "__all__" // the field of what is no single field's fault
)

// NotUnique is the error for a name that another schedule of the template has.
func NotUnique() Errors { return Errors{{everything, notUnique}} }

// NoTemplate is the error for a template that does not exist.
func NoTemplate(name string) Errors {
	return Errors{{"unified_job_template", `Invalid pk "` + name + `" - object does not exist.`}}
}

// FixedTemplate is the error for another template than a schedule has.
func FixedTemplate(has scheduler.Key) Errors {
	const message = "The template of a schedule cannot be changed, here that is %s: make another schedule."
	return Errors{{"unified_job_template", fmt.Sprintf(message, has)}}
}

// Error returns all messages, each with its field, one on each line.
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

// fields are the places of a job, and the fields of a schedule that end there.
var fields = []struct{ path, field string }{
	{"recurrence", "rrule"}, {"data", "extra_data"}, {"description", "description"}, {"labels", "name"},
}

// Explain tells what is wrong with the job of a schedule as errors of the schedule's fields. What is in none of them is in
// the template.
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
