package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/services/scheduler/mgmt/2016-03-01/scheduler"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

// put puts a job into a dedicated collection, and returns the response.
func put(ctx context.Context, name string, job scheduler.JobDefinition) scheduler.JobDefinition {
	collection(ctx, name)
	return report.Get(jobs().CreateOrUpdate(ctx, group, name, "j", job))
}

func createJobs(ctx context.Context) {
	wish := calling()
	wish.Properties.StartTime = at(2015, time.July, 13)
	wish.Properties.Action.Request.Headers = map[string]*string{"a": new("b")}
	wish.Properties.Action.RetryPolicy = &scheduler.RetryPolicy{
		RetryType: scheduler.Fixed, RetryInterval: new("00:01:00"), RetryCount: new(int32(2)),
	}
	wish.Properties.Action.ErrorAction = &scheduler.JobErrorAction{
		Type: scheduler.StorageQueue, QueueMessage: &scheduler.StorageQueueMessage{
			StorageAccount: new("account1"), QueueName: new("queue1"), SasToken: new("sv=1&sig=s"), Message: new("m"),
		},
	}
	wish.Properties.Recurrence = &scheduler.JobRecurrence{
		Frequency: scheduler.Month, Interval: new(int32(1)), Count: new(int32(10000)), EndTime: at(2099, time.October, 10),
		Schedule: &scheduler.JobRecurrenceSchedule{
			Hours: &[]int32{5, 10}, Minutes: &[]int32{0, 30},
			MonthlyOccurrences: &[]scheduler.JobRecurrenceScheduleMonthlyOccurrence{
				{Day: scheduler.JobScheduleDayFriday, Occurrence: new(int32(-1))},
			},
		},
	}
	got := put(ctx, "creating", wish)
	report.Equal(got.StatusCode, http.StatusCreated)
	report.Same([]string{*got.ID, *got.Name}, []string{base + "creating/jobs/j", "creating/j"})
	report.Equal(*got.Type, "Microsoft.Scheduler/jobCollections/jobs")
	shownAction(got.Properties.Action)
	shownRecurrence(got.Properties.Recurrence)
	status := got.Properties.Status
	report.Equal(got.Properties.State, "enabled")
	report.Equal(*status.ExecutionCount+*status.FailureCount+*status.FaultedCount, 0)
	report.Equal(status.NextExecutionTime.After(time.Now()), true)
	report.Equal(put(ctx, "creating", wish).StatusCode, http.StatusOK)
	report.Equal(put(ctx, "creating", calling()).Properties.Recurrence, nil)
}

func shownAction(got *scheduler.JobAction) {
	queue := got.ErrorAction.QueueMessage
	report.Equal(got.Type, scheduler.HTTP)
	report.Equal(*got.Request.Headers["a"], "b")
	report.Same([]string{string(got.RetryPolicy.RetryType), *got.RetryPolicy.RetryInterval}, []string{"fixed", "00:01:00"})
	report.Equal(*got.RetryPolicy.RetryCount, 2)
	report.Equal(got.ErrorAction.Type, scheduler.StorageQueue)
	report.Same([]string{*queue.StorageAccount, *queue.QueueName, *queue.Message}, []string{"account1", "queue1", "m"})
	report.Equal(queue.SasToken, nil)
}

func shownRecurrence(got *scheduler.JobRecurrence) {
	last := (*got.Schedule.MonthlyOccurrences)[0]
	report.Equal(got.Frequency, "month")
	report.Equal(*got.Count, 10000)
	report.Equal(*got.EndTime, *at(2099, time.October, 10))
	report.Equal(slices.Equal(*got.Schedule.Hours, []int32{5, 10}), true)
	report.Equal(last.Day, scheduler.JobScheduleDayFriday)
	report.Equal(*last.Occurrence, -1)
}

func authentication(ctx context.Context) {
	shown := func(with scheduler.BasicHTTPAuthentication) scheduler.BasicHTTPAuthentication {
		request := &scheduler.HTTPRequest{URI: new("https://example.org/"), Method: new("GET"), Authentication: with}
		got := put(ctx, "authenticating", acting(&scheduler.JobAction{Type: scheduler.HTTPS, Request: request}))
		return got.Properties.Action.Request.Authentication
	}
	basic, isBasic := shown(scheduler.BasicAuthentication{Username: new("u"), Password: new("secret")}).AsBasicAuthentication()
	oauth, isOAuth := shown(scheduler.OAuthAuthentication{
		Tenant: new("t.example.org"), Audience: new("https://a.example.org/"), ClientID: new("i"), Secret: new("secret"),
	}).AsOAuthAuthentication()
	report.Equal([2]bool{isBasic, isOAuth}, [2]bool{true, true})
	report.Equal(*basic.Username, "u")
	report.Equal(basic.Password, nil)
	report.Same([]string{*oauth.Tenant, *oauth.Audience, *oauth.ClientID}, []string{"t.example.org", "https://a.example.org/", "i"})
	report.Equal(oauth.Secret, nil)
}

func serviceBusJobs(ctx context.Context) {
	key := &scheduler.ServiceBusAuthentication{Type: scheduler.SharedAccessKey, SasKeyName: new("k"), SasKey: new("c2VjcmV0")}
	got := put(ctx, "bus", acting(&scheduler.JobAction{
		Type: scheduler.ServiceBusQueue, ServiceBusQueueMessage: &scheduler.ServiceBusQueueMessage{
			Namespace: new("n"), QueueName: new("q"), TransportType: scheduler.ServiceBusTransportTypeAMQP, Message: new("m"),
			Authentication:            key,
			CustomMessageProperties:   map[string]*string{"a": new("b")},
			BrokeredMessageProperties: &scheduler.ServiceBusBrokeredMessageProperties{Label: new("l"), TimeToLive: new("PT5M")},
		},
	}))
	queue := got.Properties.Action.ServiceBusQueueMessage
	report.Same([]string{*queue.QueueName, *queue.Message, *queue.CustomMessageProperties["a"]}, []string{"q", "m", "b"})
	report.Same([]string{*queue.Authentication.SasKeyName, *queue.BrokeredMessageProperties.TimeToLive}, []string{"k", "PT5M"})
	report.Equal(queue.Authentication.SasKey, nil)
	got = put(ctx, "bus", acting(&scheduler.JobAction{
		Type: scheduler.ServiceBusTopic, ServiceBusTopicMessage: &scheduler.ServiceBusTopicMessage{
			Namespace: new("n"), TopicPath: new("t"), TransportType: scheduler.ServiceBusTransportTypeNetMessaging, Message: new("m"),
			Authentication: key,
		},
	}))
	topic := got.Properties.Action.ServiceBusTopicMessage
	report.Same([]string{*topic.TopicPath, string(topic.TransportType)}, []string{"t", "netMessaging"})
}

func patchJobs(ctx context.Context) {
	weekly := calling()
	weekly.Properties.Recurrence = &scheduler.JobRecurrence{Frequency: scheduler.Week, Interval: new(int32(1)), Count: new(int32(10000))}
	put(ctx, "patching", weekly)
	patch := func(properties scheduler.JobProperties) (scheduler.JobDefinition, error) {
		return jobs().Patch(ctx, group, "patching", "j", scheduler.JobDefinition{Properties: &properties})
	}
	daily := report.Get(patch(scheduler.JobProperties{Recurrence: &scheduler.JobRecurrence{Frequency: scheduler.Day, Interval: new(int32(1))}}))
	report.Equal(daily.Properties.Recurrence.Frequency, "day")
	report.Equal(*daily.Properties.Recurrence.Count, 10000)
	report.Equal(report.Get(patch(scheduler.JobProperties{State: scheduler.JobStateDisabled})).Properties.State, "disabled")
	_, over := patch(scheduler.JobProperties{State: scheduler.JobStateCompleted})
	refused(over, http.StatusBadRequest, "state")
}

func listJobs(ctx context.Context) {
	collection(ctx, "listing")
	var want []string
	for i := range 7 {
		job := calling()
		if i == 3 {
			job.Properties.State = scheduler.JobStateDisabled
		}
		name := fmt.Sprintf("j%d", i)
		report.Get(jobs().CreateOrUpdate(ctx, group, "listing", name, job))
		want = append(want, "listing/"+name)
	}
	names := func(top, skip *int32, filter string) (names []string) {
		one, err := jobs().ListComplete(ctx, group, "listing", top, skip, filter)
		for ; err == nil && one.NotDone(); err = one.NextWithContext(ctx) {
			names = append(names, *one.Value().Name)
		}
		report.Must(err)
		return names
	}
	report.Same(names(new(int32(3)), nil, ""), want)
	report.Same(names(nil, new(int32(5)), ""), want[5:])
	report.Same(names(nil, nil, "state eq 'Disabled'"), want[3:4])
}

func runJobs(ctx context.Context) {
	put(ctx, "running", calling())
	for i := range 3 {
		runAgain(ctx, i+1)
	}
	records := history(ctx, "status eq 'Completed'")
	report.Equal(len(records), 3)
	report.Equal(len(history(ctx, "status eq 'Failed'")), 0)
	var ids []string
	for _, record := range records {
		ids = append(ids, *record.ID)
	}
	newest := records[0].Properties
	report.Equal(strings.HasPrefix(ids[0], base+"running/jobs/j/history/"), true)
	report.Equal(slices.IsSorted(ids), true)
	report.Equal(newest.ActionName, scheduler.MainAction)
	report.Equal(newest.Status, scheduler.Completed)
	report.Equal(*newest.RetryCount, 0)
	report.Equal(newest.EndTime.Before(newest.StartTime.Time), false)
}

// runAgain runs the job, as soon as its last run has been ended, and waits for its records.
func runAgain(ctx context.Context, records int) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ran := false; ; {
		if !ran {
			_, err := jobs().Run(ctx, group, "running", "j")
			if ran = err == nil; !ran {
				refused(err, http.StatusConflict, "Conflict")
			}
		}
		if all := history(ctx, ""); ran && len(all) == records {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			report.Must(ctx.Err())
		}
	}
}

// history is the history of the job, read two records at a time.
func history(ctx context.Context, filter string) (records []scheduler.JobHistoryDefinition) {
	one, err := jobs().ListJobHistoryComplete(ctx, group, "running", "j", new(int32(2)), nil, filter)
	for ; err == nil && one.NotDone(); err = one.NextWithContext(ctx) {
		records = append(records, one.Value())
	}
	report.Must(err)
	return records
}

func deleteJobs(ctx context.Context) {
	put(ctx, "emptied", calling())
	report.Get(jobs().Delete(ctx, group, "emptied", "j"))
	_, gone := jobs().Get(ctx, group, "emptied", "j")
	refused(gone, http.StatusNotFound, "ResourceNotFound")
}
