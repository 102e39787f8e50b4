package control_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/backup"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// with returns a service whose keys have the given order.
func (w *harness) with(first seal.Key, more ...seal.Key) *control.Service {
	vault := secrets.NewVault(secrets.Config{Store: w.store.Secrets(), Keys: seal.NewKeyring(first, more...)})
	return control.New(control.Config{Store: w.store, Actions: actions.New(), Secrets: vault})
}

const (
	hushHook = `{"type": "webhook", "webhook": {"verify": {"type": "github", "secret": "hush"}}}`
	refHook  = `{"type": "webhook", "webhook": {"verify": {"type": "github", "secret": {"secretRef": "shared"}}}}`
)

// TestSources follows sources from their creation to the end of their collection.
func TestSources(t *testing.T) {
	w, ctx := newHarness(t), t.Context()
	one, two := must.Get(seal.NewKey("one"))(t), must.Get(seal.NewKey("two"))(t)
	w.collection("sales", `{}`)
	s, k := w.with(one), scheduler.Key{Collection: "sales", Job: "hook"}
	if _, _, err := w.service.PutSource(ctx, k, []byte(hushHook)); !errors.Is(err, scheduler.ErrInvalid) {
		t.Errorf("without a key: %v", err)
	}
	for _, step := range []struct {
		body, want string
	}{{hushHook, "created"}, {hushHook, "unchanged"}, {strings.Replace(hushHook, "hush", "shhh", 1), "updated"}} {
		v, result, err := s.PutSource(ctx, k, []byte(step.body))
		if err != nil || string(result) != step.want || strings.Contains(string(v1.JSON(v)), "hush") {
			t.Errorf("%s, %v, want %s", result, err, step.want)
		}
	}
	stale := s.If(must.Get(scheduler.ReadCondition([]string{`"r1"`}, nil))(t))
	if _, err := stale.PatchSource(ctx, k, []byte(`{"state": "disabled"}`)); !errors.Is(err, scheduler.ErrPrecondition) {
		t.Errorf("with an old ETag: %v", err)
	}
	must.Get(s.PatchSource(ctx, k, []byte(`{"state": "disabled"}`)))(t)
	must.Get(s.PatchSource(ctx, k, []byte(`{"state": "enabled", "webhook": {"maxBytes": 100}}`)))(t)

	// A rotation seals it again, and a shared secret is kept for it.
	rotating := w.with(two, one)
	if r := must.Get(rotating.RotateSecrets(ctx))(t); r.Sources != 1 || r.Failures != 0 {
		t.Errorf("rotated %+v", r)
	}
	known := must.Get(w.with(two).Known(ctx, k))(t)
	if text, ok := known.Webhook.Verify.Secret.Literal(); !ok || text != "shhh" || known.Webhook.MaxBytes != 100 || !known.Enabled() {
		t.Errorf("after the rotation, the source is %s", known.Document())
	}
	if _, _, err := s.PutSource(ctx, scheduler.Key{Collection: "sales", Job: "ref"}, []byte(refHook)); !errors.Is(err, scheduler.ErrInvalid) {
		t.Errorf("an absent shared secret: %v", err)
	}
	_, _, err := s.PutSecret(ctx, "shared", []byte(`{"value": "x"}`))
	must.Do(t, err)
	_, _, err = s.PutSource(ctx, scheduler.Key{Collection: "sales", Job: "ref"}, []byte(refHook))
	must.Do(t, err)
	if err := s.DeleteSecret(ctx, "shared", false); !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "sales/ref") {
		t.Errorf("a shared secret in use: %v", err)
	}

	// A backup has it, and the end of the collection deletes it.
	var file bytes.Buffer
	to := must.Get(backup.NewWriter(&file, backup.Header{}))(t)
	must.Do(t, backup.Take(ctx, backup.TakeConfig{Store: w.store}, to))
	if sum := must.Get(to.Close())(t); sum.Sources != 2 || !slices.Contains(sum.Keys, "two") {
		t.Errorf("the backup has %+v", sum)
	}
	if err := s.DeleteCollection(ctx, "sales", true); !errors.Is(err, scheduler.ErrConflict) {
		t.Errorf("a collection with sources is empty: %v", err)
	}
	must.Do(t, s.DeleteCollection(ctx, "sales", false))
	if _, err := w.with(two).Known(ctx, k); !errors.Is(err, scheduler.ErrNotFound) {
		t.Errorf("the collection is deleted, and its source is there: %v", err)
	}
	if _, _, err := s.PutSource(ctx, k, []byte(hushHook)); !errors.Is(err, scheduler.ErrNotFound) {
		t.Errorf("without a collection: %v", err)
	}
	report := must.Get(backup.Restore(ctx, backup.RestoreConfig{Store: w.store}, must.Get(backup.NewReader(io.Reader(&file)))(t)))(t)
	if _, err := w.with(two).Known(ctx, k); err != nil || report.Put.Sources != 2 {
		t.Errorf("restored %+v, %v", report, err)
	}
	w.checkTrail(s)
}

// checkTrail checks the audit log of sources.
func (w *harness) checkTrail(s *control.Service) {
	entries, _, err := s.Trail(w.t.Context(), control.TrailQuery{Scope: audit.Scope{Kind: audit.Source, Collection: "sales"}}, v1.Page{Top: 100})
	must.Do(w.t, err)
	var got []string
	for _, e := range slices.Backward(entries) {
		if e.Target() == "source sales/hook" && e.Phase == "" {
			got = append(got, fmt.Sprint(e.Op, " ", e.Result, " ", e.Changed))
		}
	}
	want := []string{
		"put created []", "put updated [webhook.verify.secret]", "patch updated [state]", "patch updated [webhook.maxBytes state]", "delete deleted []",
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("the audit log has %q, want %q", got, want)
	}
}

// TestDamagedSource shows a source that was changed outside Carillon, and replaces it.
func TestDamagedSource(t *testing.T) {
	w, ctx := newHarness(t), t.Context()
	k := scheduler.Key{Collection: "default", Job: "hook"}
	must.Get(w.store.Sources().Save(ctx, source.StoredName(k), []byte(`{"properties":{}}`), 0))(t)
	v := must.Get(w.service.Source(ctx, k))(t)
	if v.State != scheduler.Damaged || !strings.Contains(string(v1.JSON(v)), `"damage":"`) {
		t.Errorf("it is shown as %s", v1.JSON(v))
	}
	if all := must.Get(w.service.Sources(ctx, "", func(string) bool { return true }))(t); len(all) != 1 {
		t.Errorf("%d sources are listed", len(all))
	}
	_, result, err := w.service.PutSource(ctx, k, []byte(`{"type": "nats", "nats": {"subject": "orders"}}`))
	if err != nil || result != v1.Updated {
		t.Errorf("%s, %v", result, err)
	}
}

// stale are the sources of a process whose watch has ended: it knows the first revision of a source.
type stale struct {
	control.RunningSources

	source *source.Source
	live   bool
}

func (s stale) Find(scheduler.Key) (*source.Source, bool) { return s.source, s.live }

// TestKnownWithoutWatch deletes a source while the process misses changes: its webhook is closed.
func TestKnownWithoutWatch(t *testing.T) {
	w, k := newHarness(t), scheduler.Key{Collection: "default", Job: "hook"}
	key := must.Get(seal.NewKey("one"))(t)
	vault := secrets.NewVault(secrets.Config{Store: w.store.Secrets(), Keys: seal.NewKeyring(key)})
	known, _, err := w.with(key).PutSource(t.Context(), k, []byte(hushHook))
	must.Do(t, err)
	for _, deleted := range []bool{false, true} {
		if deleted {
			must.Do(t, w.with(key).DeleteSource(t.Context(), k))
		}
		for _, live := range []bool{false, true} {
			s := control.New(control.Config{Store: w.store, Actions: actions.New(), Secrets: vault, Sources: stale{source: known.Source, live: live}})
			if _, err := s.Known(t.Context(), k); errors.Is(err, scheduler.ErrNotFound) != (deleted && !live) {
				t.Errorf("deleted %t, live %t: %v", deleted, live, err)
			}
		}
	}
}
