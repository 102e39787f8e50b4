package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/dispatch"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// key returns the job, or the source, in the path.
func key(r *http.Request) scheduler.Key {
	return scheduler.Key{Collection: r.PathValue("c"), Job: cmp.Or(r.PathValue("j"), r.PathValue("n"))}
}

// perform returns the action of an operation of package dispatch.
func perform(op *api.Operation) action {
	return func(a *server, w http.ResponseWriter, r *http.Request) error {
		form, err := tailFormOf(op, r)
		if err != nil {
			return err
		}
		asked, err := read(op, r, form != nil)
		if err != nil {
			return err
		}
		if form != nil {
			return a.follow(w, r, asked, form)
		}
		s, ctx := a.Service, r.Context()
		if op.Conditional {
			if s, err = a.held(r); err != nil {
				return err
			}
		}
		if op.Body != nil {
			if asked.Body, err = readBody(w, r); err != nil {
				return err
			}
		}
		if op.Changes() && !op.Abortable {
			ctx = context.WithoutCancel(ctx)
		}
		v, err := dispatch.Do(ctx, s, asked)
		if err != nil {
			return err
		}
		return reply(w, r, v)
	}
}

// read returns the request for an operation, without its body. tail: it is for a live tail.
func read(op *api.Operation, r *http.Request, tail bool) (*dispatch.Request, error) {
	asked := &dispatch.Request{
		Op: op, Key: key(r), Name: cmp.Or(r.PathValue("id"), r.PathValue("name")), Params: map[string]any{},
	}
	params := op.Params(tail, true)
	if tail {
		if err := checkOptions(r.URL.RawQuery, names(params)); err != nil {
			return nil, err
		}
	}
	var wrong []error
	q := r.URL.Query()
	if event := strings.TrimSpace(r.Header.Get(lastEventHeader)); tail && event != "" {
		q.Del("after")
		after, err := v1.ReadSequence(lastEventHeader, event)
		asked.Params["after"], wrong = after, append(wrong, err)
	}
	for i := range op.Query {
		p := &op.Query[i]
		text := q.Get(p.Name)
		switch {
		case p.Tail && !tail && q.Has(p.Name):
			wrong = append(wrong, scheduler.Invalid(p.Name, "applies only to live tails: set follow=true"))
		case text != "":
			var err error
			asked.Params[p.Name], err = parameter(p, text)
			wrong = append(wrong, err)
		}
	}
	return asked, errors.Join(wrong...)
}

// parameter parses a query parameter.
func parameter(p *api.Param, text string) (any, error) {
	switch p.Kind {
	case api.Flag:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return nil, scheduler.Invalid(p.Name, fmt.Sprintf("%q is neither true nor false", text))
		}
		return on, nil
	case api.Number:
		most := cmp.Or(p.Max, math.MaxInt32)
		n, err := strconv.Atoi(text)
		if err != nil || n < p.Min || n > most {
			return nil, scheduler.Invalid(p.Name, fmt.Sprintf("%q is not a number in %d-%d", text, p.Min, most))
		}
		return n, nil
	case api.Instant:
		t, err := document.ParseTime(text)
		if err != nil {
			return nil, scheduler.Invalid(p.Name, err.Error())
		}
		return t, nil
	case api.Sequence:
		return v1.ReadSequence(p.Name, text)
	case api.Text, api.Word:
	}
	return text, nil
}

// putStatus returns the status of a request that may have created an object.
func putStatus(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}

// reply sends the answer of an operation.
func reply(w http.ResponseWriter, r *http.Request, v dispatch.Answer) error {
	if v.Located != "" {
		w.Header().Set("Location", r.URL.EscapedPath()+"/"+v.Located)
	}
	if done, err := tag(w, r, v.What, v.ETag); done || err != nil {
		return err
	}
	status := putStatus(v.Created)
	switch {
	case v.Items != nil:
		next := ""
		if v.Next != nil {
			if changes := v.Next(len(v.Items)); changes != nil {
				next = linkTo(r, changes)
			}
		}
		return answer(w, status, v1.NewList(v.Items, next))
	case v.Document != nil:
		return answer(w, status, v.Document)
	}
	w.WriteHeader(status)
	return nil
}
