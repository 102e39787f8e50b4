package rest

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// forecast tells what is planned, minute by minute.
func (a *server) forecast(w http.ResponseWriter, r *http.Request) error {
	q := service.ForecastQuery{Collection: r.URL.Query().Get("collection"), Sees: access.Sees(r.Context())}
	var err error
	if q.Collection != "" {
		if err = access.Check(r.Context(), access.Read, q.Collection); err != nil {
			return err
		}
	}
	if q.Hours, err = number(r, "hours"); err != nil {
		return err
	}
	if q.Proposals, err = number(r, "proposals"); err != nil {
		return err
	}
	if text := r.URL.Query().Get("from"); text != "" {
		if q.From, err = document.ParseTime(text); err != nil {
			return scheduler.Invalid("from", err.Error())
		}
	}
	report, err := a.service.Forecast(r.Context(), q)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, report)
}

// number reads a parameter that is a whole number within its bounds, or returns its default if it is absent.
func number(r *http.Request, name string) (int, error) {
	text := r.URL.Query().Get(name)
	p, _ := askingOf(r.Context()).operation.Param(name)
	if text == "" {
		return p.Default, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < p.Min || n > p.Max {
		return 0, scheduler.Invalid(name, fmt.Sprintf("%q is not a number in %d-%d", text, p.Min, p.Max))
	}
	return n, nil
}
