// Command scheduler tests the scheduler with Azure Scheduler's management client for Go, with its client-side
// validation.
package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/services/scheduler/mgmt/2016-03-01/scheduler"
	"github.com/Azure/go-autorest/autorest"
	"github.com/Azure/go-autorest/autorest/date"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func main() {
	report.Run("github.com/Azure/azure-sdk-for-go", []report.Operation{
		{Name: "create collections", Do: createCollections},
		{Name: "patch collections", Do: patchCollections},
		{Name: "list collections", Do: listCollections},
		{Name: "delete collections", Do: deleteCollections},
		{Name: "turn collections", Do: turnCollections},
		{Name: "create jobs", Do: createJobs},
		{Name: "authentication of jobs", Do: authentication},
		{Name: "Service Bus jobs", Do: serviceBusJobs},
		{Name: "patch jobs", Do: patchJobs},
		{Name: "list jobs", Do: listJobs},
		{Name: "run jobs and history", Do: runJobs},
		{Name: "delete jobs", Do: deleteJobs},
		{Name: "quotas", Do: quotas},
		{Name: "request ids", Do: requestIDs},
		{Name: "unknown version", Do: unknownVersion},
	})
}

// Where the collections are.
const (
	subscription = "623d50f1-4fa8-4e46-a967-a9214aed43ab"
	group        = "CS-SouthCentralUS-scheduler"
	base         = "/subscriptions/" + subscription + "/resourceGroups/" + group + "/providers/Microsoft.Scheduler/jobCollections/"
)

// collections is the client of collections, which sends a token that is none, and each request once.
func collections() scheduler.JobCollectionsClient {
	c := scheduler.NewJobCollectionsClientWithBaseURI(os.Getenv("SCHEDULER_ENDPOINT"), subscription)
	c.RequestInspector, c.RetryAttempts, c.PollingDelay = autorest.WithBearerAuthorization("none"), 1, time.Millisecond
	return c
}

// jobs is the client of jobs.
func jobs() scheduler.JobsClient {
	c := scheduler.NewJobsClientWithBaseURI(os.Getenv("SCHEDULER_ENDPOINT"), subscription)
	c.RequestInspector, c.RetryAttempts = autorest.WithBearerAuthorization("none"), 1
	return c
}

// definition is a collection of the plan Standard.
func definition(quota *scheduler.JobCollectionQuota) scheduler.JobCollectionDefinition {
	return scheduler.JobCollectionDefinition{
		Location: new("South Central US"), Tags: map[string]*string{"a": new("b")},
		Properties: &scheduler.JobCollectionProperties{
			Sku: &scheduler.Sku{Name: scheduler.Standard}, State: scheduler.Enabled, Quota: quota,
		},
	}
}

// collection puts a collection.
func collection(ctx context.Context, name string) {
	report.Get(collections().CreateOrUpdate(ctx, group, name, definition(nil)))
}

// calling is a job that calls the target at a time that is far away.
func calling() scheduler.JobDefinition {
	return acting(&scheduler.JobAction{
		Type: scheduler.HTTP, Request: &scheduler.HTTPRequest{URI: new(os.Getenv("TARGET_ENDPOINT")), Method: new("GET")},
	})
}

// acting is a job that does something at a time that is far away.
func acting(action *scheduler.JobAction) scheduler.JobDefinition {
	return scheduler.JobDefinition{Properties: &scheduler.JobProperties{
		StartTime: at(2099, time.January, 1), Action: action, State: scheduler.JobStateEnabled,
	}}
}

func at(year int, month time.Month, day int) *date.Time {
	return &date.Time{Time: time.Date(year, month, day, 0, 0, 0, 0, time.UTC)}
}

// refused checks that an error has a status and a code.
func refused(err error, status int, code string) {
	got, ok := errors.AsType[autorest.DetailedError](err)
	if !ok {
		report.Must(errors.New("it is no error of the client"), err)
	}
	report.Equal(got.StatusCode, any(status))
	report.Refused(err, code)
}

func requestIDs(ctx context.Context) {
	c := collections()
	c.RequestInspector = autorest.WithHeaders(map[string]any{"x-ms-correlation-request-id": "c1", "x-ms-client-request-id": "c2"})
	page := report.Get(c.ListBySubscription(ctx))
	got := page.Response().Header
	report.Equal(len(got.Get("X-Ms-Request-Id")), 36)
	report.Same([]string{got.Get("X-Ms-Correlation-Request-Id"), got.Get("X-Ms-Client-Request-Id")}, []string{"c1", "c2"})
}

func unknownVersion(ctx context.Context) {
	c := collections()
	c.RequestInspector = autorest.WithQueryParameters(map[string]any{"api-version": "2014-04-01"})
	_, err := c.ListBySubscription(ctx)
	refused(err, http.StatusBadRequest, "InvalidApiVersionParameter")
}
