package main

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/services/scheduler/mgmt/2016-03-01/scheduler"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func createCollections(ctx context.Context) {
	wish := definition(&scheduler.JobCollectionQuota{
		MaxJobCount: new(int32(50)), MaxJobOccurrence: new(int32(1000)),
		MaxRecurrence: &scheduler.JobMaxRecurrence{Frequency: scheduler.Minute, Interval: new(int32(1))},
	})
	for _, status := range []int{http.StatusCreated, http.StatusOK} {
		report.Equal(report.Get(collections().CreateOrUpdate(ctx, group, "made", wish)).StatusCode, status)
	}
	got := report.Get(collections().Get(ctx, group, "made"))
	report.Same([]string{*got.ID, *got.Type, *got.Name}, []string{base + "made", "Microsoft.Scheduler/jobCollections", "made"})
	report.Same([]string{*got.Location, *got.Tags["a"]}, []string{"South Central US", "b"})
	report.Equal(got.Properties.Sku.Name, scheduler.Standard)
	report.Equal(got.Properties.State, scheduler.Enabled)
	report.Equal(*got.Properties.Quota.MaxJobCount, 50)
	report.Equal(*got.Properties.Quota.MaxRecurrence.Interval, 1)
}

func patchCollections(ctx context.Context) {
	collection(ctx, "patched")
	got := report.Get(collections().Patch(ctx, group, "patched", scheduler.JobCollectionDefinition{
		Properties: &scheduler.JobCollectionProperties{Quota: &scheduler.JobCollectionQuota{MaxJobCount: new(int32(7))}},
	}))
	report.Equal(got.Properties.Sku.Name, scheduler.Standard)
	report.Equal(*got.Properties.Quota.MaxJobCount, 7)
	report.Equal(*got.Tags["a"], "b")
}

func listCollections(ctx context.Context) {
	report.Get(collections().CreateOrUpdate(ctx, "another", "listed", definition(nil)))
	collection(ctx, "listed")
	ids := func(one scheduler.JobCollectionListResultIterator, err error) (ids []string) {
		for ; err == nil && one.NotDone(); err = one.NextWithContext(ctx) {
			ids = append(ids, *one.Value().ID)
		}
		report.Must(err)
		return ids
	}
	other := func(id string) bool { return strings.Contains(id, "/another/") }
	ofGroup := ids(collections().ListByResourceGroupComplete(ctx, group))
	ofAll := ids(collections().ListBySubscriptionComplete(ctx))
	report.Equal(slices.Contains(ofGroup, base+"listed"), true)
	report.Equal(slices.ContainsFunc(ofGroup, other), false)
	report.Equal(slices.Contains(ofAll, base+"listed"), true)
	report.Equal(slices.ContainsFunc(ofAll, other), true)
}

func deleteCollections(ctx context.Context) {
	put(ctx, "deleted", calling())
	underWay := report.Get(collections().Delete(ctx, group, "deleted"))
	report.Must(underWay.WaitForCompletionRef(ctx, collections().Client))
	_, gone := collections().Get(ctx, group, "deleted")
	refused(gone, http.StatusNotFound, "ResourceNotFound")
	_, gone = jobs().Get(ctx, group, "deleted", "j")
	refused(gone, http.StatusNotFound, "ResourceNotFound")
}

func turnCollections(ctx context.Context) {
	put(ctx, "turned", calling())
	off := report.Get(collections().Disable(ctx, group, "turned"))
	report.Must(off.WaitForCompletionRef(ctx, collections().Client))
	report.Equal(report.Get(collections().Get(ctx, group, "turned")).Properties.State, scheduler.Disabled)
	report.Equal(report.Get(jobs().Get(ctx, group, "turned", "j")).Properties.State, "enabled")
	on := report.Get(collections().Enable(ctx, group, "turned"))
	report.Must(on.WaitForCompletionRef(ctx, collections().Client))
	report.Equal(report.Get(collections().Get(ctx, group, "turned")).Properties.State, scheduler.Enabled)
}

func quotas(ctx context.Context) {
	report.Get(collections().CreateOrUpdate(ctx, group, "few", definition(&scheduler.JobCollectionQuota{MaxJobCount: new(int32(1))})))
	report.Get(jobs().CreateOrUpdate(ctx, group, "few", "j", calling()))
	_, second := jobs().CreateOrUpdate(ctx, group, "few", "k", calling())
	refused(second, http.StatusConflict, "Conflict")
}
