package service

import (
	"cmp"
	"context"
	"errors"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// ForeseeCollection returns what PutCollection would make of a collection, and changes nothing.
func (c CollectionKeeper) ForeseeCollection(ctx context.Context, name string, body []byte) (*view.ForeseenCollection, error) {
	wish, err := c.readCollection(ctx, name, body)
	if err != nil {
		return nil, err
	}
	cur, err := c.stored(ctx, name)
	if damaged, ok := errors.AsType[*scheduler.DamagedError](err); ok {
		return &view.ForeseenCollection{Would: wish, Result: view.Updated}, c.meets(name, damaged.Collection())
	}
	if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
		return nil, err
	}
	would, result, err := replaced(cur, wish)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(c.meets(name, cur), c.checkPlan(ctx, cur, would)); err != nil {
		return nil, err
	}
	return &view.ForeseenCollection{Is: cur, Would: would, Result: result}, nil
}

// ForeseeCollectionPatch returns what PatchCollection would make of a collection, and changes nothing.
func (c CollectionKeeper) ForeseeCollectionPatch(ctx context.Context, name string, body []byte) (*view.ForeseenCollection, error) {
	patch, err := readCollectionPatch(ctx, name, body)
	if err != nil {
		return nil, err
	}
	cur, err := c.stored(ctx, name)
	if err != nil {
		return nil, err
	}
	would, err := c.patched(ctx, name, cur, patch)
	if err != nil {
		return nil, err
	}
	result := view.Updated
	if would.Equals(cur) {
		result = view.Unchanged
	}
	return &view.ForeseenCollection{Is: cur, Would: would, Result: result}, nil
}
