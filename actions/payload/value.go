package payload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/carillon-sched/carillon/scheduler"
)

// The values of templates are nil (nothing), bool, int64, float64, string, moment, scheduler.Key (a job),
// scheduler.Failure, and whole.

// whole stands for the data as a whole, which can be asked for its fields and for nothing else.
type whole struct{}

var errWhole = errors.New("the data as a whole cannot be used: name one of its fields, such as .Occurrence")

// number returns a number as the template writes it (the rules of package text/template).
func number(n *parse.NumberNode) (any, error) {
	hexadecimal := strings.HasPrefix(n.Text, "0x") || strings.HasPrefix(n.Text, "0X")
	fraction := strings.ContainsAny(n.Text, ".pP") || !hexadecimal && strings.ContainsAny(n.Text, "eE")
	switch {
	case n.IsInt && (!fraction || strings.HasPrefix(n.Text, "'")):
		return n.Int64, nil
	case n.IsFloat && fraction:
		return n.Float64, nil
	}
	return nil, fmt.Errorf("%s is not a number that a template can hold", n.Text)
}

// truth is what if, and, or and not go by: nothing, zero, an empty text, no time and no failure are false.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case moment:
		return !v.t.IsZero()
	case scheduler.Failure:
		return v != scheduler.Failure{}
	}
	return true
}

// textOf is how a value is printed.
func textOf(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return fmt.Sprint(v)
	case string:
		return v
	case moment:
		return v.String()
	case scheduler.Key:
		return v.String()
	case scheduler.Failure:
		return v.Message
	}
	return ""
}

// kindOf names the kind of a value in messages.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "true or false"
	case int64, float64:
		return "a number"
	case string:
		return "a text"
	case moment:
		return "a time"
	case scheduler.Key:
		return "a job"
	case scheduler.Failure:
		return "a failure"
	}
	return "the data"
}

// jsonOf returns a value as JSON.
func jsonOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool, int64, float64:
		return textOf(v)
	case moment:
		if v.t.IsZero() {
			return "null"
		}
	case scheduler.Failure:
		if !truth(v) {
			return "null"
		}
		b := strconv.AppendInt([]byte(`{"status":`), int64(v.Status), 10)
		b = strconv.AppendInt(append(b, `,"attempts":`...), int64(v.Attempts), 10)
		return string(append(appendJSON(append(b, `,"message":`...), v.Message), '}'))
	}
	return string(appendJSON(nil, textOf(v)))
}

// member returns a field of a value, or what a method of it returns.
func (r *run) member(value any, name string, args []any) (any, error) {
	if m, ok := value.(moment); ok {
		return r.method(m, name, args)
	}
	var field any
	var names string // of what there is, when field is not
	switch v := value.(type) {
	case whole:
		field, names = r.field(name)
	case scheduler.Key:
		names = ".Collection and .Name"
		switch name {
		case "Name":
			field, names = v.Job, ""
		case "Collection":
			field, names = v.Collection, ""
		}
	case scheduler.Failure:
		names = ".Status, .Attempts and .Message"
		switch name {
		case "Status":
			field, names = int64(v.Status), ""
		case "Attempts":
			field, names = int64(v.Attempts), ""
		case "Message":
			field, names = v.Message, ""
		}
	default:
		return nil, fmt.Errorf("%s has no field .%s", kindOf(value), name)
	}
	switch {
	case names != "":
		return nil, fmt.Errorf("%s has no field .%s; it has %s", kindOf(value), name, names)
	case len(args) > 0:
		return nil, fmt.Errorf(".%s takes no arguments", name)
	}
	return field, nil
}

// field returns a field of the data, or the names of those that there are.
func (r *run) field(name string) (value any, names string) {
	a := r.attempt
	switch name {
	case "Occurrence":
		return a.Occurrence, ""
	case "Nominal":
		return moment{a.Nominal.UTC()}, ""
	case "Due":
		return moment{a.Due.UTC()}, ""
	case "Previous":
		return moment{a.Previous.UTC()}, ""
	case "Attempt":
		return int64(a.Try), ""
	case "Job":
		return a.Job, ""
	case "Key":
		return a.Key, ""
	case "Failure":
		if a.Failure == nil {
			return scheduler.Failure{}, ""
		}
		return *a.Failure, ""
	}
	return nil, ".Attempt, .Due, .Failure, .Job, .Key, .Nominal, .Occurrence and .Previous"
}
