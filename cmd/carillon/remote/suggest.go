package remote

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// notFound is the error about a job that does not exist.
var notFound = regexp.MustCompile(`\bjob ([^/\s]+)/([^/:\s]+): not found`)

// The bounds of a search for a name.
const (
	suggestTimeout = 3 * time.Second
	suggestMost    = 1000 // jobs that are compared
)

// noCollection is the error about a collection that does not exist.
var noCollection = regexp.MustCompile(`\bcollection ([^/\s:]+): not found`)

// missing returns the error about the collection of a job that does not exist, nil if the collection does.
func missing(api *client.Client, err error) error {
	if m := notFound.FindStringSubmatch(err.Error()); m != nil {
		ctx, cancel := context.WithTimeout(context.Background(), suggestTimeout)
		defer cancel()
		if _, of := api.Collection(ctx, m[1]); errors.Is(of, scheduler.ErrNotFound) {
			return of
		}
	}
	return nil
}

// suggest returns a hint about a job or a collection that does not exist: the collection that has the job, or the closest name.
func suggest(api *client.Client, err error) string {
	ctx, cancel := context.WithTimeout(context.Background(), suggestTimeout)
	defer cancel()
	if m := noCollection.FindStringSubmatch(err.Error()); m != nil {
		return nearestCollection(ctx, api, m[1])
	}
	m := notFound.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	own, err := client.Collect(api.List(ctx, client.Query{Collection: m[1]}), suggestMost)
	if errors.Is(err, scheduler.ErrNotFound) {
		own, err = nil, nil
	}
	if err != nil {
		return ""
	}
	same, _ := client.Collect(api.List(ctx, client.Query{Prefix: m[2]}), suggestMost)
	for _, j := range same {
		if k := j.Key(); k.Job == m[2] {
			return fmt.Sprintf("the collection %s has a job of this name: %s", k.Collection, k)
		}
	}
	if near := nearestJob(m[2], own); near != "" {
		return fmt.Sprintf("did you mean %s/%s?", m[1], near)
	}
	all, _ := client.Collect(api.List(ctx, client.Query{}), suggestMost)
	near := nearestJob(m[2], all)
	for _, j := range all {
		if j.Key().Job == near {
			return fmt.Sprintf("did you mean %s?", j.Key())
		}
	}
	return ""
}

func nearestCollection(ctx context.Context, api *client.Client, name string) string {
	all, _ := api.Collections(ctx)
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	if near := document.Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean the collection %s?", near)
	}
	return ""
}

func nearestJob(name string, jobs []*client.Job) string {
	names := make([]string, len(jobs))
	for i, j := range jobs {
		names[i] = j.Key().Job
	}
	return document.Nearest(name, names)
}
