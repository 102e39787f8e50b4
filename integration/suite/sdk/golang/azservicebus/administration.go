package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func adminQueues(ctx context.Context) {
	lock, count := "PT1M30S", int32(7)
	made := report.Get(manager.CreateQueue(ctx, "q1", &admin.CreateQueueOptions{
		Properties: &admin.QueueProperties{LockDuration: &lock, MaxDeliveryCount: &count},
	}))
	_, twice := manager.CreateQueue(ctx, "q1", nil)
	report.Refused(twice, "409")
	*made.MaxDeliveryCount = 8
	report.Get(manager.UpdateQueue(ctx, "q1", made.QueueProperties, nil))
	got := report.Get(manager.GetQueue(ctx, "q1", nil))
	report.Equal(*got.MaxDeliveryCount, 8)
	report.Equal(*got.LockDuration, lock)
	report.Get(manager.DeleteQueue(ctx, "q1", nil))
	report.Equal(report.Get(manager.GetQueue(ctx, "q1", nil)), nil)
}

func adminSubscriptions(ctx context.Context) {
	report.Get(manager.CreateTopic(ctx, "t2", nil))
	report.Get(manager.CreateSubscription(ctx, "t2", "s", nil))
	var names []string
	for pager := manager.NewListSubscriptionsPager("t2", nil); pager.More(); {
		for _, each := range report.Get(pager.NextPage(ctx)).Subscriptions {
			names = append(names, each.SubscriptionName)
		}
	}
	report.Same(names, []string{"s"})
	report.Get(manager.DeleteTopic(ctx, "t2", nil))
}

func adminCounts(ctx context.Context) {
	report.Get(manager.CreateQueue(ctx, "counted", nil))
	onQueue(ctx, "counted", func(sender *azservicebus.Sender, _ *azservicebus.Receiver) { put(ctx, sender, "a", "b") })
	got := report.Get(manager.GetQueueRuntimeProperties(ctx, "counted", nil))
	report.Equal(got.ActiveMessageCount, 2)
	report.Equal(got.TotalMessageCount, 2)
}

func adminPages(ctx context.Context) {
	for _, name := range report.Series(120) {
		report.Get(manager.CreateQueue(ctx, "page"+name, nil))
	}
	found := 0
	for pager := manager.NewListQueuesPager(nil); pager.More(); {
		found += len(report.Get(pager.NextPage(ctx)).Queues)
	}
	report.Equal(found >= 120, true)
}
