package natsapi

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/dispatch"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// perform answers a request for an operation of package dispatch.
func perform(ctx context.Context, s *control.Service, r request) answer {
	asked, err := r.read(ctx, false)
	if err != nil {
		return answer{err: err}
	}
	v, err := dispatch.Do(ctx, s, asked)
	switch {
	case err != nil:
		return answer{err: err}
	case v.Items != nil && v.Next == nil:
		return r.listing(asked, part(asked, v))
	case v.Items != nil:
		return r.listing(asked, v)
	case v.Document == nil:
		return answer{}
	}
	ans := answer{body: v1.JSON(v.Document), etag: v.ETag}
	if v.Created {
		ans.status = 201
	}
	if _, ok := r.op.Param("proposals"); ok && len(ans.body) > r.room {
		return answer{err: scheduler.Invalid("proposals", fmt.Sprintf(
			"the answer would have %d bytes, and a message holds %d: ask for fewer proposals, or fewer hours", len(ans.body), r.room,
		))}
	}
	if !r.op.Changes() && v.ETag != "" {
		switch known, err := dispatch.Known(r.how.when, v.What, v.ETag); {
		case err != nil:
			return answer{err: err}
		case known:
			return answer{status: 304, etag: v.ETag}
		}
	}
	return ans
}

// read returns the request for an operation. Parameters that are not in its subject or its headers are fields of its
// body. tail: it is for a live tail.
func (r request) read(ctx context.Context, tail bool) (*dispatch.Request, error) {
	asked := &dispatch.Request{Op: r.op, Params: map[string]any{}}
	if r.how.strict {
		asked.Params["strict"] = true
	}
	if r.how.dryRun {
		asked.Params["dryRun"] = true
	}
	name := r.name
	if own := len(api.NamesIn(r.op.Subject)); r.op.Scoped {
		tokens := strings.Split(name, ".")
		asked.Params["collection"] = strings.Join(tokens[own:], ".")
		name = strings.Join(tokens[:own], ".")
	}
	if strings.Contains(r.op.Subject, "{c}") {
		asked.Key = keyOf(name)
	} else {
		asked.Name = name
	}
	switch {
	case r.op.Body != nil:
		asked.Body = r.body
	case r.op.Bare:
		return asked, flow.CheckNoDocument(ctx, r.body)
	default:
		return asked, r.readParams(ctx, asked.Params, r.op.Params(tail, false))
	}
	return asked, nil
}

// readParams parses the parameters in the body. An operation without parameters ignores its body.
func (r request) readParams(ctx context.Context, params map[string]any, fields []api.Param) error {
	none := len(fields) == 0
	fields = slices.DeleteFunc(fields, func(p api.Param) bool { _, elsewhere := params[p.Name]; return elsewhere })
	if _, paged := r.op.Param("$top"); !paged && r.op.Answer != nil && r.op.Answer.List {
		fields = append(fields, shortPage...)
	} else if none {
		return nil
	}
	if len(fields) == 0 {
		return flow.CheckNoDocument(ctx, r.body)
	}
	return readBody(ctx, r.body, func(o *document.Object) {
		for i := range fields {
			if v, ok := field(o, &fields[i]); ok {
				params[fields[i].Name] = v
			}
		}
	})
}

// field parses a parameter.
func field(o *document.Object, p *api.Param) (v any, ok bool) {
	switch p.Kind {
	case api.Flag:
		return o.Bool(p.Name)
	case api.Number:
		n, ok := o.Int(p.Name, int64(p.Min), int64(cmp.Or(p.Max, math.MaxInt32)))
		return int(n), ok
	case api.Instant:
		return o.Time(p.Name)
	case api.Sequence:
		n, ok := o.Int(p.Name, 0, math.MaxInt64)
		return uint64(n), ok
	case api.Text, api.Word:
	}
	return o.String(p.Name)
}
