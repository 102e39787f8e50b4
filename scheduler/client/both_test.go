package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// called is a job that calls a target once, now.
func (w *harness) called(more string) []byte {
	return fmt.Appendf(nil, `{"action": {"type": "http", "request": {"method": "POST", "uri": %q, "body": "x"}}%s}`, w.target, more)
}

// later is a job that does not become due during a test.
const later = `, "startTime": "2099-01-01T00:00:00Z", "recurrence": {"frequency": "day"}`

// TestEveryMethodOverEitherTransport calls each method, and expects the same of REST and NATS.
func TestEveryMethodOverEitherTransport(t *testing.T) {
	w := start(t)
	type call struct {
		what string
		do   func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error)
		want string // as it is printed
		is   error
	}
	put := func(body []byte, o client.PutOptions) func(context.Context, *client.Client, scheduler.Key) (any, error) {
		return func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			j, err := c.Put(ctx, k, body, o)
			return j.Result, err
		}
	}
	state := func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
		j, err := c.Get(ctx, k)
		return j.State, err
	}
	turn := func(f func(*client.Client, context.Context, scheduler.Key) (*client.Job, error)) func(context.Context, *client.Client, scheduler.Key) (any, error) {
		return func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			j, err := f(c, ctx, k)
			return fmt.Sprint(j.State, " ", j.Result), err
		}
	}
	nothing := func(f func(*client.Client, context.Context, scheduler.Key) error) func(context.Context, *client.Client, scheduler.Key) (any, error) {
		return func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) { return nil, f(c, ctx, k) }
	}
	calls := []call{
		{"get what is not there", state, "", scheduler.ErrNotFound},
		{"put what is wrong", put([]byte(`{"action": {"type": "pigeon"}}`), client.PutOptions{}), "", scheduler.ErrInvalid},
		{"rehearse a put", put(w.called(later), client.PutOptions{DryRun: true}), "created", nil},
		{"get what was rehearsed", state, "", scheduler.ErrNotFound},
		{"put strictly what is warned of", put(w.called(`, "timeZone": "Europe/Zurich"`), client.PutOptions{Strict: true}), "", scheduler.ErrInvalid},
		{"put", put(w.called(later), client.PutOptions{}), "created", nil},
		{"put again", put(w.called(later), client.PutOptions{}), "unchanged", nil},
		{"get", state, "enabled", nil},
		{"patch", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			j, err := c.Patch(ctx, k, []byte(`{"labels": {"team": "`+k.Job+`"}}`), client.PutOptions{})
			return j.Labels["team"] == k.Job, err
		}, "true", nil},
		{"put what is to be new", put(w.called(later), client.PutOptions{OnlyNew: true}), "", scheduler.ErrPrecondition},
		{"patch over what was changed", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			return c.Patch(ctx, k, []byte(`{"labels": null}`), client.PutOptions{IfMatch: `"other-1"`})
		}, "", scheduler.ErrPrecondition},
		{"patch over what is known", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			j, err := c.Get(ctx, k)
			if err != nil {
				return nil, err
			}
			patched, err := c.Patch(ctx, k, []byte(`{"description": "known"}`), client.PutOptions{IfMatch: j.ETag})
			return j.ETag != "" && patched.ETag != "" && patched.ETag != j.ETag, err
		}, "true", nil},
		{"disable", turn((*client.Client).Disable), "disabled updated", nil},
		{"disable again", turn((*client.Client).Disable), "disabled unchanged", nil},
		{"get what is disabled", state, "disabled", nil},
		{"enable", turn((*client.Client).Enable), "enabled updated", nil},
		{"enable again", turn((*client.Client).Enable), "enabled unchanged", nil},
		{"pause", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			j, err := c.Pause(ctx, k, "2098-12-31T23:00Z")
			return fmt.Sprint(j.State, " ", j.PausedUntil.Format(time.RFC3339)), err
		}, "enabled 2098-12-31T23:00:00Z", nil},
		{"enable what is paused", turn((*client.Client).Enable), "enabled updated", nil},
		{"list by label", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			return names(client.Collect(c.List(ctx, client.Query{Collection: k.Collection, Labels: "team=" + k.Job}), 0))
		}, "[JOB]", nil},
		{"list by state, of all collections", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			return names(client.Collect(c.List(ctx, client.Query{State: scheduler.Enabled, Labels: "team=" + k.Job}), 0))
		}, "[JOB]", nil},
		{"run and wait", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			occurrence, err := c.Run(ctx, k)
			if err != nil {
				return nil, err
			}
			end, err := c.Wait(ctx, k, occurrence)
			if err == nil && end.Record.Occurrence != occurrence {
				err = errors.New("not that occurrence")
			}
			return fmt.Sprint(end.Last, end.Completed), err
		}, "true true", nil},
		{"publish an event, and read it", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			e := client.NewEvent{
				Topic: scheduler.Topic{Collection: k.Collection, Name: k.Job}, ID: k.Job + "-7", Body: []byte(`{"total": 7}`),
				Attributes: map[string]string{"type": "order", "Ce-Source": "shop"},
			}
			first, err := c.PublishEvent(ctx, e)
			if err != nil {
				return nil, err
			}
			again, err := c.PublishEvent(ctx, e)
			if err != nil || !again.Duplicate || again.Sequence != first.Sequence || first.Duplicate {
				return nil, fmt.Errorf("%+v, again %+v, %w", first, again, err)
			}
			one, err := c.Event(ctx, first.Sequence, k.Collection)
			if err != nil {
				return nil, err
			}
			all, err := client.Collect(c.Events(ctx, client.EventQuery{Name: k.Job, Since: one.Time}, 0), 0)
			return fmt.Sprintf("%d %t %t %s %v", len(all), one.ID == e.ID, one.Subject() == e.Topic.String(), one.Data, one.Attributes), err
		}, `1 true true {"total":7} map[content-type:application/json source:shop type:order]`, nil},
		{"publish an event that is too large", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			return c.PublishEvent(ctx, client.NewEvent{
				Topic: scheduler.Topic{Collection: k.Collection, Name: k.Job}, Body: make([]byte, scheduler.MaxEventSize-10),
			})
		}, "", scheduler.ErrInvalid},
		{"an event that is not there", func(ctx context.Context, c *client.Client, _ scheduler.Key) (any, error) {
			return c.Event(ctx, 1<<40, "")
		}, "", scheduler.ErrNotFound},
		{"wait for what has ended", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			records, err := client.Collect(c.History(ctx, client.HistoryQuery{Key: k, Page: 1}), 1)
			if err != nil {
				return nil, err
			}
			end, err := c.Wait(ctx, k, records[0].Occurrence)
			return end.Completed, err
		}, "true", nil},
		{"why it did not run", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			reasons, err := c.Why(ctx, k, "2020-01-01T00:00:00Z")
			return len(reasons.Document) > 0, err
		}, "true", nil},
		{"what is planned", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			f, err := c.Forecast(ctx, client.ForecastQuery{Collection: k.Collection, Hours: 2})
			return fmt.Sprint(f.To.Sub(f.From), len(f.PerMinute), len(f.Document) > 0), err
		}, "2h0m0s 120 true", nil},
		{"what is planned where there is nothing", func(ctx context.Context, c *client.Client, _ scheduler.Key) (any, error) {
			return c.Forecast(ctx, client.ForecastQuery{Collection: "none", Hours: 2})
		}, "", scheduler.ErrNotFound},
		{"what is planned of what no collection can be called", func(ctx context.Context, c *client.Client, _ scheduler.Key) (any, error) {
			return c.Forecast(ctx, client.ForecastQuery{Collection: "a b", Hours: 2})
		}, "", scheduler.ErrInvalid},
		{"who changed it", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			entries, err := c.Audit(ctx, client.AuditQuery{Key: k, Op: "disable", Since: time.Now().Add(-time.Hour)}, 10)
			if err != nil {
				return nil, err
			}
			return fmt.Sprint(len(entries), entries[0].Changed), nil
		}, "1 [state]", nil},
		{"who changed it, page by page", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			all, err := c.Audit(ctx, client.AuditQuery{Key: k}, 0)
			if err != nil {
				return nil, err
			}
			last, err := c.Audit(ctx, client.AuditQuery{Key: scheduler.Key{Collection: k.Collection}, Kind: audit.Job}, 1)
			return len(all) > 3 && last[0].Sequence >= all[0].Sequence, err
		}, "true", nil},
		{"history", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			records, err := client.Collect(c.History(ctx, client.HistoryQuery{
				Key: k, RecordFilter: scheduler.RecordFilter{
					Outcomes: []scheduler.Outcome{scheduler.OutcomeCompleted}, Since: time.Now().Add(-time.Hour),
				},
			}), 0)
			return len(records), err
		}, "1", nil},
		{"resubmit what completed", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			records, err := client.Collect(c.History(ctx, client.HistoryQuery{Key: k}), 1)
			if err != nil {
				return nil, err
			}
			return c.Resubmit(ctx, k, records[0].Occurrence, false)
		}, "", scheduler.ErrConflict},
		{"try what is stored", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			v, err := c.Try(ctx, k, nil)
			return fmt.Sprint(v.Stored, v.Failed()), err
		}, "true false", nil},
		{"try what is not", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			v, err := c.Try(ctx, k, []byte(`{"action": {"type": "http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}}`))
			return fmt.Sprint(v.Stored, v.Failed()), err
		}, "false true", nil},
		{"try nothing", func(ctx context.Context, c *client.Client, _ scheduler.Key) (any, error) {
			return c.Try(ctx, scheduler.Key{Collection: "default", Job: "none"}, nil)
		}, "", scheduler.ErrNotFound},
		{"delete", nothing((*client.Client).Delete), "<nil>", nil},
		{"delete again", nothing((*client.Client).Delete), "", scheduler.ErrNotFound},
		{"put what ends", put(w.called(""), client.PutOptions{}), "created", nil},
		{"wait for its end", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			j, err := c.WaitEnd(ctx, k)
			return j.State, err
		}, "completed", nil},
		{"create a collection", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			made, err := c.CreateCollection(ctx, k.Job, []byte(`{"properties": {"quota": {"maxJobCount": 3}}}`))
			return made.Quota.MaxJobCount, err
		}, "3", nil},
		{"create it again", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			return c.CreateCollection(ctx, k.Job, nil)
		}, "", scheduler.ErrConflict},
		{"rehearse to replace it", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			made, err := c.PutCollection(ctx, k.Job, nil, true)
			return made.Result, err
		}, "updated", nil},
		{"get what was rehearsed of it", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			got, err := c.Collection(ctx, k.Job)
			return got.Quota.MaxJobCount, err
		}, "3", nil},
		{"stop it", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			return nil, errors.Join(c.DisableCollection(ctx, k.Job), c.EnableCollection(ctx, k.Job))
		}, "<nil>", nil},
		{"delete it", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			return nil, c.DeleteCollection(ctx, k.Job, false)
		}, "<nil>", nil},
		{"set a secret", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			_, created, err := c.PutSecret(ctx, k.Job, "text", "for a test")
			return created, err
		}, "true", nil},
		{"list secrets", func(ctx context.Context, c *client.Client, _ scheduler.Key) (any, error) {
			all, err := c.Secrets(ctx)
			if err != nil {
				return nil, err
			}
			return all[0].Name, nil
		}, "JOB", nil},
		{"rotate keys", func(ctx context.Context, c *client.Client, _ scheduler.Key) (any, error) {
			r, err := c.RotateSecrets(ctx)
			return r.Skipped, err
		}, "1", nil},
		{"delete the secret", func(ctx context.Context, c *client.Client, k scheduler.Key) (any, error) {
			return nil, c.DeleteSecret(ctx, k.Job, true)
		}, "<nil>", nil},
	}
	w.each(t, func(t *testing.T, c *client.Client, prefix string) {
		ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
		defer cancel()
		k := scheduler.Key{Collection: scheduler.DefaultCollection, Job: prefix + "-job"}
		for _, call := range calls {
			got, err := call.do(ctx, c, k)
			switch {
			case call.is != nil && !errors.Is(err, call.is):
				t.Errorf("%s: got %v, want %v", call.what, err, call.is)
			case errors.Is(call.is, scheduler.ErrInvalid) && len(scheduler.ProblemsIn(err)) == 0:
				t.Errorf("%s: %v names no place", call.what, err)
			case call.is == nil && err != nil:
				t.Fatalf("%s: %v", call.what, err)
			case call.is == nil && call.want != "" && fmt.Sprint(got) != strings.ReplaceAll(call.want, "JOB", k.Job):
				t.Errorf("%s: got %v, want %s", call.what, got, call.want)
			}
		}
	})
}

// names are those of jobs, without the collection's.
func names(jobs []*client.Job, err error) (any, error) {
	all := make([]string, len(jobs))
	for i, j := range jobs {
		all[i] = j.Key().Job
	}
	return all, err
}

// TestPagesOverEitherTransport lists more than a page holds.
func TestPagesOverEitherTransport(t *testing.T) {
	w := start(t)
	const jobs = 230
	rest := must.Get(client.NewREST(client.RESTConfig{URL: w.api}))(t)
	for i := range jobs {
		k := scheduler.Key{Collection: scheduler.DefaultCollection, Job: fmt.Sprintf("job-%03d", i)}
		must.Get(rest.Put(t.Context(), k, w.called(later), client.PutOptions{}))(t)
	}
	w.each(t, func(t *testing.T, c *client.Client, _ string) {
		n := 0
		for j, err := range c.List(t.Context(), client.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("default/job-%03d", n); j.Name != want {
				t.Fatalf("got %s, want %s", j.Name, want)
			}
			n++
		}
		if n != jobs {
			t.Errorf("%d jobs", n)
		}
		few, err := client.Collect(c.List(t.Context(), client.Query{}), 105)
		if err != nil || len(few) != 105 {
			t.Errorf("%d jobs and %v", len(few), err)
		}
	})
}
