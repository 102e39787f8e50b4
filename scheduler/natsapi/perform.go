package natsapi

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/dispatch"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/intake"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// perform answers a request for an operation of package dispatch.
func perform(ctx context.Context, s *service.Service, r request) answer {
	asked, err := r.read(ctx)
	if err != nil {
		return answer{err: err}
	}
	v, err := dispatch.Do(ctx, s, asked)
	switch {
	case err != nil:
		return answer{err: err}
	case v.Items != nil:
		return few(ctx, r, v.Items)
	case v.Document == nil:
		return answer{}
	}
	ans := answer{body: view.JSON(v.Document), etag: v.ETag}
	if v.Created {
		ans.status = 201
	}
	if _, ok := r.op.Param("proposals"); ok && len(ans.body) > r.room {
		return answer{err: scheduler.Invalid("proposals", fmt.Sprintf(
			"the answer would have %d bytes, and a message holds %d: ask for fewer proposals, or fewer hours", len(ans.body), r.room,
		))}
	}
	if !r.op.Changes() && v.ETag != "" {
		return r.unlessKnown(v.What, ans)
	}
	return ans
}

// read returns the request for an operation. Parameters that are not in its subject or its headers are fields of its
// body.
func (r request) read(ctx context.Context) (*dispatch.Request, error) {
	asked := &dispatch.Request{Op: r.op, Params: map[string]any{"strict": r.how.strict, "dryRun": r.how.dryRun}}
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
	case r.op.Body != "":
		asked.Body = r.body
	case r.op.Bare:
		return asked, intake.CheckNoDocument(ctx, r.body)
	default:
		return asked, r.readParams(ctx, asked.Params)
	}
	return asked, nil
}

// readParams parses the parameters in the body. An operation without parameters ignores its body, and few parses the
// body of a short list.
func (r request) readParams(ctx context.Context, params map[string]any) error {
	fields := slices.Clone(r.op.Query)
	fields = slices.DeleteFunc(fields, func(p api.Param) bool { _, elsewhere := params[p.Name]; return elsewhere })
	switch {
	case len(r.op.Query) == 0 || strings.HasSuffix(r.op.Answer, "List"):
		return nil
	case len(fields) == 0:
		return intake.CheckNoDocument(ctx, r.body)
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
		most := p.Max
		if most == 0 {
			most = math.MaxInt32
		}
		n, ok := o.Int(p.Name, int64(p.Min), int64(most))
		return int(n), ok
	case api.Instant:
		return o.Time(p.Name)
	case api.Text, api.Word:
	}
	return o.String(p.Name)
}
