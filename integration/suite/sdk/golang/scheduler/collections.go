package main

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/services/scheduler/mgmt/2016-03-01/scheduler"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func createCollections(ctx context.Context) error {
	wish := definition(&scheduler.JobCollectionQuota{
		MaxJobCount: new(int32(50)), MaxJobOccurrence: new(int32(1000)),
		MaxRecurrence: &scheduler.JobMaxRecurrence{Frequency: scheduler.Minute, Interval: new(int32(1))},
	})
	for _, status := range []int{http.StatusCreated, http.StatusOK} {
		put, err := collections().CreateOrUpdate(ctx, group, "made", wish)
		if err != nil {
			return err
		}
		if err := report.Equal(put.StatusCode, status); err != nil {
			return err
		}
	}
	got, err := collections().Get(ctx, group, "made")
	if err != nil {
		return err
	}
	properties := got.Properties
	return errors.Join(
		report.Same([]string{*got.ID, *got.Type, *got.Name}, []string{base + "made", "Microsoft.Scheduler/jobCollections", "made"}),
		report.Same([]string{*got.Location, *got.Tags["a"]}, []string{"South Central US", "b"}),
		report.Equal(properties.Sku.Name, scheduler.Standard),
		report.Equal(properties.State, scheduler.Enabled),
		report.Equal(*properties.Quota.MaxJobCount, 50),
		report.Equal(*properties.Quota.MaxRecurrence.Interval, 1),
	)
}

func patchCollections(ctx context.Context) error {
	patch := scheduler.JobCollectionDefinition{Properties: &scheduler.JobCollectionProperties{
		Quota: &scheduler.JobCollectionQuota{MaxJobCount: new(int32(7))},
	}}
	if err := collection(ctx, "patched"); err != nil {
		return err
	}
	got, err := collections().Patch(ctx, group, "patched", patch)
	if err != nil {
		return err
	}
	return errors.Join(
		report.Equal(got.Properties.Sku.Name, scheduler.Standard), report.Equal(*got.Properties.Quota.MaxJobCount, 7),
		report.Equal(*got.Tags["a"], "b"),
	)
}

func listCollections(ctx context.Context) error {
	_, err := collections().CreateOrUpdate(ctx, "another", "listed", definition(nil))
	if err := errors.Join(err, collection(ctx, "listed")); err != nil {
		return err
	}
	var ofGroup, ofAll []string
	one, err := collections().ListByResourceGroupComplete(ctx, group)
	for ; err == nil && one.NotDone(); err = one.NextWithContext(ctx) {
		ofGroup = append(ofGroup, *one.Value().ID)
	}
	if err != nil {
		return err
	}
	one, err = collections().ListBySubscriptionComplete(ctx)
	for ; err == nil && one.NotDone(); err = one.NextWithContext(ctx) {
		ofAll = append(ofAll, *one.Value().ID)
	}
	other := func(id string) bool { return strings.Contains(id, "/another/") }
	return errors.Join(
		err,
		report.Equal(slices.Contains(ofGroup, base+"listed"), true), report.Equal(slices.ContainsFunc(ofGroup, other), false),
		report.Equal(slices.Contains(ofAll, base+"listed"), true), report.Equal(slices.ContainsFunc(ofAll, other), true),
	)
}

func deleteCollections(ctx context.Context) error {
	err := collection(ctx, "deleted")
	_, put := jobs().CreateOrUpdate(ctx, group, "deleted", "j", calling())
	if err := errors.Join(err, put); err != nil {
		return err
	}
	underWay, err := collections().Delete(ctx, group, "deleted")
	if err != nil {
		return err
	}
	err = underWay.WaitForCompletionRef(ctx, collections().Client)
	_, gone := collections().Get(ctx, group, "deleted")
	_, goneToo := jobs().Get(ctx, group, "deleted", "j")
	return errors.Join(
		err, refused(gone, http.StatusNotFound, "ResourceNotFound"), refused(goneToo, http.StatusNotFound, "ResourceNotFound"),
	)
}

func turnCollections(ctx context.Context) error {
	err := collection(ctx, "turned")
	_, put := jobs().CreateOrUpdate(ctx, group, "turned", "j", calling())
	if err := errors.Join(err, put); err != nil {
		return err
	}
	off, err := collections().Disable(ctx, group, "turned")
	if err != nil {
		return err
	}
	err = errors.Join(off.WaitForCompletionRef(ctx, collections().Client), inState(ctx, "turned", scheduler.Disabled))
	kept, lost := jobs().Get(ctx, group, "turned", "j")
	if err := errors.Join(err, lost); err != nil {
		return err
	}
	on, err := collections().Enable(ctx, group, "turned")
	if err != nil {
		return err
	}
	return errors.Join(
		on.WaitForCompletionRef(ctx, collections().Client), inState(ctx, "turned", scheduler.Enabled),
		report.Equal(kept.Properties.State, "enabled"),
	)
}

func inState(ctx context.Context, name string, want scheduler.JobCollectionState) error {
	got, err := collections().Get(ctx, group, name)
	if err != nil {
		return err
	}
	return report.Equal(got.Properties.State, want)
}

func quotas(ctx context.Context) error {
	_, err := collections().CreateOrUpdate(ctx, group, "few", definition(&scheduler.JobCollectionQuota{MaxJobCount: new(int32(1))}))
	_, first := jobs().CreateOrUpdate(ctx, group, "few", "j", calling())
	_, second := jobs().CreateOrUpdate(ctx, group, "few", "k", calling())
	return errors.Join(err, first, refused(second, http.StatusConflict, "Conflict"))
}
