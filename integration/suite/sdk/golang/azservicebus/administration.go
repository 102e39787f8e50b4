package main

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func adminQueues(ctx context.Context) error {
	lock, count := "PT1M30S", int32(7)
	made, err := manager.CreateQueue(ctx, "q1", &admin.CreateQueueOptions{
		Properties: &admin.QueueProperties{LockDuration: &lock, MaxDeliveryCount: &count},
	})
	if err != nil {
		return err
	}
	_, twice := manager.CreateQueue(ctx, "q1", nil)
	*made.MaxDeliveryCount = 8
	_, err = manager.UpdateQueue(ctx, "q1", made.QueueProperties, nil)
	if err := errors.Join(err, report.Refused(twice, "409")); err != nil {
		return err
	}
	got, err := manager.GetQueue(ctx, "q1", nil)
	if err != nil {
		return err
	}
	err = errors.Join(report.Equal(*got.MaxDeliveryCount, 8), report.Equal(*got.LockDuration, lock))
	_, bad := manager.DeleteQueue(ctx, "q1", nil)
	gone, none := manager.GetQueue(ctx, "q1", nil)
	return errors.Join(err, bad, none, report.Equal(gone == nil, true))
}

func adminSubscriptions(ctx context.Context) error {
	_, err := manager.CreateTopic(ctx, "t2", nil)
	_, bad := manager.CreateSubscription(ctx, "t2", "s", nil)
	if err := errors.Join(err, bad); err != nil {
		return err
	}
	var names []string
	for pager := manager.NewListSubscriptionsPager("t2", nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, each := range page.Subscriptions {
			names = append(names, each.SubscriptionName)
		}
	}
	_, err = manager.DeleteTopic(ctx, "t2", nil)
	return errors.Join(err, report.Same(names, []string{"s"}))
}

func adminCounts(ctx context.Context) error {
	if _, err := manager.CreateQueue(ctx, "counted", nil); err != nil {
		return err
	}
	err := onQueue(ctx, "counted", func(sender *azservicebus.Sender, _ *azservicebus.Receiver) error { return put(ctx, sender, "a", "b") })
	if err != nil {
		return err
	}
	got, err := manager.GetQueueRuntimeProperties(ctx, "counted", nil)
	if err != nil {
		return err
	}
	return errors.Join(report.Equal(got.ActiveMessageCount, 2), report.Equal(got.TotalMessageCount, 2))
}

func adminPages(ctx context.Context) error {
	for _, name := range report.Series(120) {
		if _, err := manager.CreateQueue(ctx, "page"+name, nil); err != nil {
			return err
		}
	}
	found := 0
	for pager := manager.NewListQueuesPager(nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		found += len(page.Queues)
	}
	return report.Equal(found >= 120, true)
}
