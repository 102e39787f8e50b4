package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/services/scheduler/mgmt/2016-03-01/scheduler"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

// put puts a job into a dedicated collection, and returns the response.
func put(ctx context.Context, name string, job scheduler.JobDefinition) (scheduler.JobDefinition, error) {
	if err := collection(ctx, name); err != nil {
		return scheduler.JobDefinition{}, err
	}
	return jobs().CreateOrUpdate(ctx, group, name, "j", job)
}

func createJobs(ctx context.Context) error {
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
	got, err := put(ctx, "creating", wish)
	if err != nil {
		return err
	}
	again, err := jobs().CreateOrUpdate(ctx, group, "creating", "j", wish)
	if err != nil {
		return err
	}
	plain, err := jobs().CreateOrUpdate(ctx, group, "creating", "j", calling())
	if err != nil {
		return err
	}
	return errors.Join(
		report.Equal(got.StatusCode, http.StatusCreated), report.Equal(again.StatusCode, http.StatusOK),
		report.Same([]string{*got.ID, *got.Name}, []string{base + "creating/jobs/j", "creating/j"}),
		report.Equal(*got.Type, "Microsoft.Scheduler/jobCollections/jobs"),
		shownAction(got.Properties.Action), shownRecurrence(got.Properties.Recurrence), shownStatus(got.Properties),
		report.Equal(plain.Properties.Recurrence, nil),
	)
}

func shownAction(got *scheduler.JobAction) error {
	queue := got.ErrorAction.QueueMessage
	return errors.Join(
		report.Equal(got.Type, scheduler.HTTP), report.Equal(*got.Request.Headers["a"], "b"),
		report.Same([]string{string(got.RetryPolicy.RetryType), *got.RetryPolicy.RetryInterval}, []string{"fixed", "00:01:00"}),
		report.Equal(*got.RetryPolicy.RetryCount, 2),
		report.Equal(got.ErrorAction.Type, scheduler.StorageQueue),
		report.Same([]string{*queue.StorageAccount, *queue.QueueName, *queue.Message}, []string{"account1", "queue1", "m"}),
		report.Equal(queue.SasToken, nil),
	)
}

func shownRecurrence(got *scheduler.JobRecurrence) error {
	last := (*got.Schedule.MonthlyOccurrences)[0]
	return errors.Join(
		report.Equal(got.Frequency, "month"), report.Equal(*got.Count, 10000), report.Equal(*got.EndTime, *at(2099, time.October, 10)),
		report.Equal(slices.Equal(*got.Schedule.Hours, []int32{5, 10}), true),
		report.Equal(last.Day, scheduler.JobScheduleDayFriday), report.Equal(*last.Occurrence, -1),
	)
}

func shownStatus(got *scheduler.JobProperties) error {
	return errors.Join(
		report.Equal(got.State, "enabled"),
		report.Equal(*got.Status.ExecutionCount+*got.Status.FailureCount+*got.Status.FaultedCount, 0),
		report.Equal(got.Status.NextExecutionTime.After(time.Now()), true),
	)
}

func authentication(ctx context.Context) error {
	calls := func(with scheduler.BasicHTTPAuthentication) scheduler.JobDefinition {
		request := &scheduler.HTTPRequest{URI: new("https://example.org/"), Method: new("GET"), Authentication: with}
		return acting(&scheduler.JobAction{Type: scheduler.HTTPS, Request: request})
	}
	got, err := put(ctx, "authenticating", calls(scheduler.BasicAuthentication{Username: new("u"), Password: new("secret")}))
	if err != nil {
		return err
	}
	basic, isBasic := got.Properties.Action.Request.Authentication.AsBasicAuthentication()
	got, err = put(ctx, "authenticating", calls(scheduler.OAuthAuthentication{
		Tenant: new("t.example.org"), Audience: new("https://a.example.org/"), ClientID: new("i"), Secret: new("secret"),
	}))
	if err != nil {
		return err
	}
	oauth, isOAuth := got.Properties.Action.Request.Authentication.AsOAuthAuthentication()
	if !isBasic || !isOAuth {
		return errors.New("the types of authentication are not those that were put")
	}
	return errors.Join(
		report.Equal(*basic.Username, "u"), report.Equal(basic.Password, nil),
		report.Same([]string{*oauth.Tenant, *oauth.Audience, *oauth.ClientID}, []string{"t.example.org", "https://a.example.org/", "i"}),
		report.Equal(oauth.Secret, nil),
	)
}

func serviceBusJobs(ctx context.Context) error {
	key := &scheduler.ServiceBusAuthentication{Type: scheduler.SharedAccessKey, SasKeyName: new("k"), SasKey: new("c2VjcmV0")}
	got, err := put(ctx, "bus", acting(&scheduler.JobAction{
		Type: scheduler.ServiceBusQueue, ServiceBusQueueMessage: &scheduler.ServiceBusQueueMessage{
			Namespace: new("n"), QueueName: new("q"), TransportType: scheduler.ServiceBusTransportTypeAMQP, Message: new("m"),
			Authentication:            key,
			CustomMessageProperties:   map[string]*string{"a": new("b")},
			BrokeredMessageProperties: &scheduler.ServiceBusBrokeredMessageProperties{Label: new("l"), TimeToLive: new("PT5M")},
		},
	}))
	if err != nil {
		return err
	}
	queue := got.Properties.Action.ServiceBusQueueMessage
	got, err = put(ctx, "bus", acting(&scheduler.JobAction{
		Type: scheduler.ServiceBusTopic, ServiceBusTopicMessage: &scheduler.ServiceBusTopicMessage{
			Namespace: new("n"), TopicPath: new("t"), TransportType: scheduler.ServiceBusTransportTypeNetMessaging, Message: new("m"),
			Authentication: key,
		},
	}))
	if err != nil {
		return err
	}
	topic := got.Properties.Action.ServiceBusTopicMessage
	return errors.Join(
		report.Same([]string{*queue.QueueName, *queue.Message, *queue.CustomMessageProperties["a"]}, []string{"q", "m", "b"}),
		report.Same([]string{*queue.Authentication.SasKeyName, *queue.BrokeredMessageProperties.TimeToLive}, []string{"k", "PT5M"}),
		report.Equal(queue.Authentication.SasKey, nil),
		report.Same([]string{*topic.TopicPath, string(topic.TransportType)}, []string{"t", "netMessaging"}),
	)
}

func patchJobs(ctx context.Context) error {
	weekly := calling()
	weekly.Properties.Recurrence = &scheduler.JobRecurrence{Frequency: scheduler.Week, Interval: new(int32(1)), Count: new(int32(10000))}
	_, err := put(ctx, "patching", weekly)
	patch := func(properties scheduler.JobProperties) (scheduler.JobDefinition, error) {
		return jobs().Patch(ctx, group, "patching", "j", scheduler.JobDefinition{Properties: &properties})
	}
	daily, bad := patch(scheduler.JobProperties{Recurrence: &scheduler.JobRecurrence{Frequency: scheduler.Day, Interval: new(int32(1))}})
	if err := errors.Join(err, bad); err != nil {
		return err
	}
	off, err := patch(scheduler.JobProperties{State: scheduler.JobStateDisabled})
	if err != nil {
		return err
	}
	_, over := patch(scheduler.JobProperties{State: scheduler.JobStateCompleted})
	return errors.Join(
		report.Equal(daily.Properties.Recurrence.Frequency, "day"), report.Equal(*daily.Properties.Recurrence.Count, 10000),
		report.Equal(off.Properties.State, "disabled"), refused(over, http.StatusBadRequest, "state"),
	)
}

func listJobs(ctx context.Context) error {
	if err := collection(ctx, "listing"); err != nil {
		return err
	}
	var want []string
	for i := range 7 {
		job := calling()
		if i == 3 {
			job.Properties.State = scheduler.JobStateDisabled
		}
		name := fmt.Sprintf("j%d", i)
		if _, err := jobs().CreateOrUpdate(ctx, group, "listing", name, job); err != nil {
			return err
		}
		want = append(want, "listing/"+name)
	}
	names := func(top, skip *int32, filter string) (names []string, err error) {
		one, err := jobs().ListComplete(ctx, group, "listing", top, skip, filter)
		for ; err == nil && one.NotDone(); err = one.NextWithContext(ctx) {
			names = append(names, *one.Value().Name)
		}
		return names, err
	}
	paged, err := names(new(int32(3)), nil, "")
	some, bad := names(nil, new(int32(5)), "")
	disabled, worse := names(nil, nil, "state eq 'Disabled'")
	return errors.Join(
		err, bad, worse, report.Same(paged, want), report.Same(some, want[5:]), report.Same(disabled, want[3:4]),
	)
}

func runJobs(ctx context.Context) error {
	if _, err := put(ctx, "running", calling()); err != nil {
		return err
	}
	for i := range 3 {
		if err := runAgain(ctx, i+1); err != nil {
			return err
		}
	}
	records, err := history(ctx, "status eq 'Completed'")
	failed, bad := history(ctx, "status eq 'Failed'")
	if err := errors.Join(err, bad, report.Equal(len(records), 3), report.Equal(len(failed), 0)); err != nil {
		return err
	}
	var ids []string
	for _, record := range records {
		ids = append(ids, *record.ID)
	}
	newest := records[0].Properties
	return errors.Join(
		report.Equal(strings.HasPrefix(ids[0], base+"running/jobs/j/history/"), true), report.Equal(slices.IsSorted(ids), true),
		report.Equal(newest.ActionName, scheduler.MainAction), report.Equal(newest.Status, scheduler.Completed),
		report.Equal(*newest.RetryCount, 0), report.Equal(newest.EndTime.Before(newest.StartTime.Time), false),
	)
}

// runAgain runs the job, as soon as its last run has been ended, and waits for its records.
func runAgain(ctx context.Context, records int) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	ran := false
	for {
		if !ran {
			_, err := jobs().Run(ctx, group, "running", "j")
			if ran = err == nil; !ran && refused(err, http.StatusConflict, "Conflict") != nil {
				return err
			}
		}
		if all, err := history(ctx, ""); err != nil || ran && len(all) == records {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// history is the history of the job, read two records at a time.
func history(ctx context.Context, filter string) (records []scheduler.JobHistoryDefinition, err error) {
	one, err := jobs().ListJobHistoryComplete(ctx, group, "running", "j", new(int32(2)), nil, filter)
	for ; err == nil && one.NotDone(); err = one.NextWithContext(ctx) {
		records = append(records, one.Value())
	}
	return records, err
}

func deleteJobs(ctx context.Context) error {
	if _, err := put(ctx, "emptied", calling()); err != nil {
		return err
	}
	_, err := jobs().Delete(ctx, group, "emptied", "j")
	_, gone := jobs().Get(ctx, group, "emptied", "j")
	return errors.Join(err, refused(gone, http.StatusNotFound, "ResourceNotFound"))
}
