package natsapi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
)

// The headers of requests and published specs that set their condition and options. They correspond to If-Match,
// If-None-Match, strict and dryRun of the REST API. Names are case-insensitive.
const (
	ifMatchHeader     = "Carillon-If-Match"
	ifNoneMatchHeader = "Carillon-If-None-Match"
	strictHeader      = "Carillon-Strict"
	dryRunHeader      = "Carillon-Dry-Run"
)

// etagHeader has the ETag of the object in an answer, as ETag in HTTP.
const etagHeader = "Carillon-ETag"

// order holds the condition and options in the headers of a request.
type order struct {
	when   scheduler.Condition
	strict bool // refuse the edit if it causes warnings
	dryRun bool // store nothing
}

// readOrder parses headers. The error matches [scheduler.ErrInvalid] and names them.
func readOrder(headers map[string][]string) (o order, err error) {
	if len(headers) == 0 {
		return o, nil
	}
	var wrong []error
	found := orderHeaders(headers)
	flag := func(name string) bool {
		text := strings.ToLower(strings.Join(found[name], ","))
		if text != "" && text != "true" && text != "false" {
			wrong = append(wrong, scheduler.Invalid(name, fmt.Sprintf("%q is neither true nor false", clip(text))))
		}
		return text == "true"
	}
	o.strict, o.dryRun = flag(strictHeader), flag(dryRunHeader)
	o.when, err = scheduler.ReadCondition(found[ifMatchHeader], found[ifNoneMatchHeader])
	return o, errors.Join(append(wrong, err)...)
}

// orderHeaders returns the headers of an order under their canonical names; nil for none.
func orderHeaders(headers map[string][]string) (found map[string][]string) {
	for name, values := range headers {
		for _, known := range []string{ifMatchHeader, ifNoneMatchHeader, strictHeader, dryRunHeader} {
			if !strings.EqualFold(name, known) {
				continue
			}
			if found == nil {
				found = map[string][]string{}
			}
			found[known] = append(found[known], values...)
		}
	}
	return found
}

// checkFor refuses headers that the operation does not support, because a caller would assume that they had an effect.
func (o order) checkFor(op *api.Operation) error {
	var wrong []error
	_, strict := op.Param("strict")
	_, dryRun := op.Param("dryRun")
	if !o.when.IsZero() && !op.Heeds() {
		wrong = append(wrong, scheduler.Invalid(ifMatchHeader, "this resource has no ETag for a condition"))
	}
	if o.strict && !strict {
		why := "is for put and patch"
		if dryRun {
			why = "there are no warnings about collections"
		}
		wrong = append(wrong, scheduler.Invalid(strictHeader, why))
	}
	if o.dryRun && !dryRun {
		wrong = append(wrong, scheduler.Invalid(dryRunHeader, "is for put and patch"))
	}
	return errors.Join(wrong...)
}
