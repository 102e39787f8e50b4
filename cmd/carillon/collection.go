package main

import (
	"context"
	"errors"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// putCollectionOver puts a collection over the REST API.
func putCollectionOver(ctx context.Context, api *client.Client, j jobfile.Job) (jobfile.Verdict, error) {
	_, change, err := api.PutCollection(ctx, j.Key.Collection, j.Body)
	return jobfile.Verdict(change), err
}

// putCollectionIn puts a collection into a scheduler of this process.
func putCollectionIn(ctx context.Context, s *service.Service, j jobfile.Job) (jobfile.Verdict, error) {
	before, err := s.Collection(ctx, j.Key.Collection)
	if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
		return "", err
	}
	put, created, err := s.PutCollection(ctx, j.Key.Collection, j.Body)
	switch {
	case err != nil:
		return "", err
	case created:
		return jobfile.Created, nil
	case before.Equals(put):
		return jobfile.Unchanged, nil
	}
	return jobfile.Updated, nil
}
