package rest

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// listJobs lists the jobs of a collection.
func (a *server) listJobs(w http.ResponseWriter, r *http.Request) error {
	return a.search(w, r, []string{r.PathValue("c")})
}

// listAllJobs lists the jobs of all collections that the caller may see.
func (a *server) listAllJobs(w http.ResponseWriter, r *http.Request) error {
	return a.search(w, r, nil)
}

func (a *server) search(w http.ResponseWriter, r *http.Request, collections []string) error {
	page, err := pageOf(r)
	if err != nil {
		return err
	}
	options := r.URL.Query()
	page.After = options.Get("$skiptoken")
	search := view.JobSearch{
		Filter: options.Get("$filter"), Labels: options.Get("labelSelector"), Prefix: options.Get("prefix"),
		Action: options.Get("actionType"), NextAfter: options.Get("nextAfter"), NextBefore: options.Get("nextBefore"),
		Text: options.Get("text"), Outcome: options.Get("lastOutcome"),
	}
	query, err := search.Query(a.service.Now())
	if err != nil {
		return err
	}
	if query.Collections = collections; collections == nil {
		query.Sees = access.Sees(r.Context())
	}
	views, following, err := a.service.Search(r.Context(), query, page)
	if err != nil {
		return err
	}
	next := ""
	if following != nil {
		next = linkTo(r, followingPage(options, search.Fixed(&query), following))
	}
	return answer(w, http.StatusOK, view.NewList(views, next))
}

// followingPage changes the options of a page to those of the next page, with fixed times in place of durations.
func followingPage(options url.Values, search view.JobSearch, page *view.Page) url.Values {
	options.Del("$skip")
	if page.Skip > 0 {
		options.Set("$skip", strconv.Itoa(page.Skip))
	}
	options.Set("$skiptoken", page.After)
	for name, at := range map[string]string{"nextAfter": search.NextAfter, "nextBefore": search.NextBefore} {
		if at != "" {
			options.Set(name, at)
		}
	}
	return options
}
