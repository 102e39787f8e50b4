// Package dispatch performs the operations of package api for the REST API and the NATS service. Published specs do not pass
// through it: package natsapi calls the service for them.
//
//	REST ───┐ reads path, query, body and headers     ┌──► service ──► view
//	        ├──► Request ──► Do ──► calls[operation] ─┤
//	NATS ───┘ reads subject, body and headers         └──► Answer: status, ETag, document
//
// An interface reads a [Request] and writes an [Answer], the same way for all operations. It requests the next page of a
// list in its own form ([Next]), and sends a live tail ([Follow]) in its own form ([Form]). Operations of one interface are
// not here: calendars, constant documents, and the operations of Azure's resource manager and of AWX.
package dispatch

import (
	"context"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// Request is a request for an operation.
type Request struct {
	Op     *api.Operation
	Key    scheduler.Key  // the collection and the job that it names, if any
	Name   string         // another object that it names, such as a secret
	Body   []byte         // its document
	Params map[string]any // by name: a string, bool, int, uint64 or time.Time, by the kind of the parameter; absent: not given
	Beyond bool           // a live tail may begin after the last record
}

// Text returns a parameter that is a text or a word; "" if it is absent.
func (r *Request) Text(name string) string { return value[string](r, name) }

// Flag returns a parameter that is a flag; false if it is absent.
func (r *Request) Flag(name string) bool { return value[bool](r, name) }

// Time returns a parameter that is an instant; zero if it is absent.
func (r *Request) Time(name string) time.Time { return value[time.Time](r, name) }

// Number returns a parameter that is a number; its default if it is absent.
func (r *Request) Number(name string) int {
	if n, ok := r.Params[name].(int); ok {
		return n
	}
	p, _ := r.Op.Param(name)
	return p.Default
}

// After returns the sequence after which a live tail begins; nil: new records only.
func (r *Request) After() *uint64 {
	n, ok := r.Params["after"].(uint64)
	if !ok {
		return nil
	}
	return &n
}

func value[T any](r *Request, name string) T {
	v, _ := r.Params[name].(T)
	return v
}

// Answer is the result of an operation.
type Answer struct {
	Document any    // nil: none
	Items    []any  // of a list, in place of Document
	Next     Next   // of a list with pages
	Created  bool   // the operation created the object
	Located  string // the name that the operation gave to the object, if it did
	What     string // the object in messages about its ETag, such as job default/report
	ETag     string // of the object; "": it has none
}

// Performs reports whether Do performs an operation.
func Performs(op *api.Operation) bool { return calls[op.ID] != nil }

// Do performs an operation. The service heeds the condition of the request, see [control.Service.If].
func Do(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	return calls[r.Op.ID](ctx, s, r)
}

// Known reports whether the caller of a read has the current version of an object, which needs no answer then. The error
// reports a failed condition.
func Known(when scheduler.Condition, what, etag string) (known bool, err error) {
	switch when.Evaluate(etag, true) {
	case scheduler.Unmodified:
		return true, nil
	case scheduler.Differs:
		return false, when.Check(what, etag)
	case scheduler.Holds:
	}
	return false, nil
}

// shown answers a document.
func shown[T any](v T, err error) (Answer, error) {
	if err != nil {
		return Answer{}, err
	}
	return Answer{Document: v}, nil
}

// created answers a document of an object that may be new.
func created[T any](v T, isNew bool, err error) (Answer, error) {
	a, err := shown(v, err)
	a.Created = isNew && err == nil
	return a, err
}

// listed answers a list.
func listed[T any](all []T, err error, show func(T) any) (Answer, error) {
	items := make([]any, len(all))
	for i, one := range all {
		items[i] = show(one)
	}
	return Answer{Items: items}, err
}

func same[T any](v T) any { return v }

// job answers a job.
func job(v *v1.Job, err error) (Answer, error) {
	if err != nil {
		return Answer{}, err
	}
	return Answer{Document: v, What: "job " + v.Job.Key.String(), ETag: v.ETag()}, nil
}

// collection answers a collection.
func collection(c *scheduler.Collection, err error) (Answer, error) {
	if err != nil {
		return Answer{}, err
	}
	return Answer{Document: v1.Collection(c), What: "collection " + c.Name, ETag: c.ETag()}, nil
}

// source answers a source of events.
func source(v *v1.Source, err error) (Answer, error) {
	if err != nil {
		return Answer{}, err
	}
	return Answer{Document: v, What: "source " + v.Key.String(), ETag: v.ETag()}, nil
}
