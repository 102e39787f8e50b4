package control

import (
	"context"
	"reflect"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// readRequest parses the body of a request. T has its fields: texts, flags and lists of texts; check, which may be nil,
// parses all others and reports further problems. A field without omitempty is required.
func readRequest[T any](ctx context.Context, body []byte, check func(o *document.Object, req *T)) (*T, error) {
	v, err := flow.Parse(ctx, body)
	if err != nil {
		return nil, err
	}
	reader, req := document.NewReader(), new(T)
	o := reader.Object(v, "")
	readFields(o, reflect.ValueOf(req).Elem())
	if check != nil {
		check(o, req)
	}
	o.Done()
	if err := reader.Err(); err != nil {
		return nil, scheduler.AsInvalid(err)
	}
	return req, nil
}

// readFields sets the fields of a struct by their names in JSON.
func readFields(o *document.Object, to reflect.Value) {
	for f, v := range to.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if options == "" && name != "" && !o.Require(name) {
			continue
		}
		switch to := v.Addr().Interface().(type) {
		case *string:
			*to, _ = o.String(name)
		case *bool:
			*to, _ = o.Bool(name)
		case *[]string:
			*to, _ = o.Strings(name)
		default:
			if f.Anonymous {
				readFields(o, v)
			}
		}
	}
}

// checkScope validates the names of a job, or of a collection if the key has no job. The zero Key is valid.
func checkScope(k scheduler.Key) error {
	switch {
	case k.Job != "":
		return k.Validate()
	case k.Collection != "":
		return scheduler.ValidateCollection(k.Collection)
	}
	return nil
}
