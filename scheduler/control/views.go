package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
)

// ViewKeeper stores shared views: addresses of the console's lists with a filter, by name, which all users see. The console
// checks the addresses.
type ViewKeeper struct {
	shared *shared
}

const (
	// viewsName is the name of the views in the bucket of settings: one value has all of them, so that a list takes one read.
	viewsName = "views"

	maxViews       = 100
	maxViewName    = 60   // characters
	maxViewAddress = 2000 // bytes
)

// Views returns the addresses of the shared views by name, and their revision.
func (v ViewKeeper) Views(ctx context.Context) (all map[string]string, revision uint64, err error) {
	st, err := v.shared.Store.Settings().Load(ctx, viewsName)
	_ = json.Unmarshal(st.Data, &all) // damaged ones may be replaced
	if all == nil {
		all = map[string]string{}
	}
	return all, st.Revision, scheduler.Ignore(err, scheduler.ErrNotFound)
}

// PutView creates or replaces a view. It returns ErrConflict if a view of another list has the name, and if there are
// too many.
func (v ViewKeeper) PutView(ctx context.Context, name, address string) error {
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) }
	switch n := utf8.RuneCountInString(name); {
	case n == 0 || n > maxViewName || !utf8.ValidString(name) || strings.ContainsFunc(name, hidden):
		return scheduler.Invalid("name", fmt.Sprintf("must have 1 to %d visible characters", maxViewName))
	case len(address) > maxViewAddress:
		return scheduler.Invalid("query", fmt.Sprintf("the address has %d bytes; at most %d are allowed", len(address), maxViewAddress))
	}
	return v.change(asking(ctx, "put"), name, address)
}

// DeleteView removes a view. ErrNotFound if it does not exist.
func (v ViewKeeper) DeleteView(ctx context.Context, name string) error {
	return v.change(asking(ctx, "delete"), name, "")
}

// change stores a view, or removes it if the address is empty.
func (v ViewKeeper) change(ctx context.Context, name, address string) error {
	list, _, _ := strings.Cut(address, "?")
	for range casTries {
		all, revision, err := v.Views(ctx)
		if err != nil {
			return err
		}
		old, found := all[name]
		e := &audit.Entry{Kind: audit.View, Op: origin(ctx).Op, Name: name, Result: string(v1.Updated), OldRevision: revision}
		switch {
		case address == "" && !found:
			return fmt.Errorf("view %q: %w", name, scheduler.ErrNotFound)
		case address == "":
			delete(all, name)
			e.Result = "deleted"
		case found && !strings.HasPrefix(old+"?", list+"?"):
			return fmt.Errorf("name: %w: a view of %s has this name; choose another one", scheduler.ErrConflict, old)
		case !found && len(all) >= maxViews:
			return fmt.Errorf("%w: at most %d views can be shared; remove one first", scheduler.ErrConflict, maxViews)
		case !found:
			e.Result = string(v1.Created)
			fallthrough
		default:
			all[name] = address
		}
		data, err := json.Marshal(all)
		if err != nil {
			return err
		}
		err = v.shared.audited(ctx, e, func(e *audit.Entry) (err error) {
			e.Revision, err = v.shared.Store.Settings().Save(ctx, viewsName, data, revision)
			return err
		})
		if !errors.Is(err, scheduler.ErrConflict) {
			return err
		}
	}
	return contended("view " + name)
}
