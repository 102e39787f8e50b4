package main

import (
	"context"
	"errors"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// putCollectionOver puts a collection over the REST API.
func putCollectionOver(ctx context.Context, api *client.Client, j jobfile.Job, o client.PutOptions) (jobfile.Answer, error) {
	var a jobfile.Answer
	if o.DryRun {
		before, err := api.Collection(ctx, j.Key.Collection)
		if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
			return a, err
		}
		if err == nil {
			a.Before = without(before.Document, identity...)
		}
	}
	put, err := api.PutCollection(ctx, j.Key.Collection, j.Body, o.DryRun)
	if err != nil {
		return jobfile.Answer{}, err
	}
	a.Result = put.Result
	if o.DryRun {
		a.After = without(put.Document, identity...)
	}
	return a, nil
}

// identity are the members of a collection's document that its name says, and what became of it.
var identity = []string{"id", "type", "name", "etag", "result", "dryRun"}

// putCollectionIn puts a collection into a scheduler of this process.
func putCollectionIn(ctx context.Context, s *service.Service, j jobfile.Job) (jobfile.Answer, error) {
	_, result, err := s.PutCollection(ctx, j.Key.Collection, j.Body)
	return jobfile.Answer{Result: result}, err
}
