package main

import (
	"context"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// putCollectionOver puts a collection over the REST API.
func putCollectionOver(ctx context.Context, api *client.Client, j jobfile.Job, o client.PutOptions) (jobfile.Answer, error) {
	put, err := api.PutCollection(ctx, j.Key.Collection, j.Body, o.DryRun)
	if err != nil {
		return jobfile.Answer{}, err
	}
	return jobfile.Answer{Result: put.Result}, nil
}

// putCollectionIn puts a collection into a scheduler of this process.
func putCollectionIn(ctx context.Context, s *service.Service, j jobfile.Job) (jobfile.Answer, error) {
	_, result, err := s.PutCollection(ctx, j.Key.Collection, j.Body)
	return jobfile.Answer{Result: result}, err
}
