package payload

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// event is an event in a template; nil: the run has none. It prints as JSON, and nil as nothing.
type event values

func (e event) String() string  { return printed(e) }
func (e event) ID() string      { return field[string](e, "id") }
func (e event) Topic() string   { return field[string](e, "topic") }
func (e event) Sequence() int64 { return field[int64](e, "sequence") }
func (e event) Time() *moment {
	t, _ := time.Parse(time.RFC3339Nano, field[string](e, "time"))
	return newMoment(t)
}
func (e event) Attributes() open { return attributes(field[values](e, "attributes")) }

// Data is the body of the event: a value of any type, or null.
func (e event) Data() open {
	if v, ok := e["data"]; ok {
		return v
	}
	if e == nil {
		return absent(nil)
	}
	return (*moment)(nil)
}

// upstream is the occurrence whose end started the run; nil: none.
type upstream values

func (u upstream) String() string     { return printed(u) }
func (u upstream) Occurrence() string { return field[string](u, "occurrence") }
func (u upstream) Outcome() string    { return field[string](u, "outcome") }
func (u upstream) Message() string    { return field[string](u, "message") }
func (u upstream) Response() string   { return field[string](u, "response") }
func (u upstream) Status() int64      { return field[int64](u, "statusCode") }
func (u upstream) Job() job {
	collection, name, _ := strings.Cut(field[string](u, "job"), "/")
	return job{collection, name}
}

// trigger describes the events of the run together; nil: none.
type trigger values

func newTrigger(c *scheduler.Cause) trigger {
	if c == nil {
		return nil
	}
	return trigger{"topic": c.Event, "key": c.Key, "count": int64(c.Count)}
}

func (t trigger) String() string { return printed(t) }
func (t trigger) Topic() string  { return field[string](t, "topic") }
func (t trigger) Key() string    { return field[string](t, "key") }
func (t trigger) Count() int64   { return field[int64](t, "count") }

// attributes are the attributes of an event. Publishers may omit any, so a missing one is an empty text.
type attributes values

func (a attributes) String() string { return printed(a) }

// absent is the data of a run without events, every value below, and a value that get does not find. The nil map is false
// for if, with and default.
type absent map[string]any

func (absent) String() string { return "" }

// open is a value whose fields only the run knows. [member] reads them.
type open any

var openType = reflect.TypeFor[open]()

// field returns a field of an object, the zero value for none.
func field[T any, O ~map[string]any](o O, name string) T {
	value, _ := o[name].(T)
	return value
}

func printed[O ~map[string]any](o O) string {
	if o == nil {
		return ""
	}
	return values(o).String()
}

// fieldsOf returns the fields of an object of any type.
func fieldsOf(v any) (fields values, ok bool) {
	if o := reflect.ValueOf(v); o.IsValid() && o.CanConvert(reflect.TypeFor[values]()) {
		fields, ok = reflect.TypeAssert[values](o.Convert(reflect.TypeFor[values]()))
	}
	return fields, ok
}

// memberName names [member] in the trees of templates. No text of a template can call it.
const memberName = "member"

// member returns the value at a path below v. label is how the template names v; "": in another way.
func member(label string, v any, path ...string) (any, error) {
	for _, name := range path {
		fields, ok := fieldsOf(v)
		if _, ok := v.(absent); ok {
			return v, nil
		}
		value, found := fields[name]
		switch _, optional := v.(attributes); {
		case found:
		case optional:
			value = ""
		case v == (*moment)(nil):
			return nil, fmt.Errorf("%s is null, and has no member .%s", cmp.Or(label, "the value"), name)
		case !ok:
			return nil, fmt.Errorf("%s is %s, and has no member .%s", cmp.Or(label, "the value"), kindOf(reflect.TypeOf(v)), name)
		default:
			return nil, fmt.Errorf("%s has no member .%s%s", cmp.Or(label, "the value"), name, alternatives(fields, name))
		}
		v, label = value, label+"."+name
	}
	return v, nil
}

// eventsOf returns a function that parses the events of an attempt when a template needs them. Package document refuses
// repeated names, which publishers may send: encoding/json keeps the last.
func eventsOf(a scheduler.Attempt) func() (list, error) {
	return sync.OnceValues(func() (list, error) {
		switch {
		case a.Events == nil && a.Cause != nil:
			return nil, errors.New("the events that started the run are no longer stored")
		case a.Events == nil:
			return nil, nil
		}
		d := json.NewDecoder(bytes.NewReader(a.Events))
		d.UseNumber()
		var all []any
		err := d.Decode(&all)
		text, _ := json.Marshal(all)
		v, wrong := document.Parse(text)
		if err = errors.Join(err, wrong); err != nil {
			return nil, fmt.Errorf("the events of the run: %w", err)
		}
		events, _ := valueOf(v).(list)
		return events, nil
	})
}
