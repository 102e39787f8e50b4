package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// TestFollowAuditOverEitherTransport follows who changes a job, and not another one, while it is changed.
func TestFollowAuditOverEitherTransport(t *testing.T) {
	w := start(t)
	w.each(t, func(t *testing.T, c *client.Client, prefix string) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		k := scheduler.Key{Collection: scheduler.DefaultCollection, Job: prefix + "-audited"}
		other := scheduler.Key{Collection: scheduler.DefaultCollection, Job: prefix + "-other"}
		for _, k := range []scheduler.Key{k, other} {
			must.Get(c.Put(ctx, k, w.called(later), client.PutOptions{}))(t)
		}
		came, ended := make(chan *audit.Entry, 1024), make(chan error, 1)
		following, stop := context.WithCancel(ctx)
		go func() {
			ended <- c.FollowAudit(following, client.AuditQuery{Key: k}, func(e *audit.Entry) { came <- e }, func(error) {})
		}()
		for len(came) < 2 && ctx.Err() == nil { // until it stands
			for _, k := range []scheduler.Key{other, k} {
				_, disabled := c.Disable(ctx, k)
				_, enabled := c.Enable(ctx, k)
				must.Do(t, errors.Join(disabled, enabled))
			}
		}
		first, second := <-came, <-came
		if first.Key() != k || second.Key() != k || first.Op == second.Op || second.Sequence <= first.Sequence {
			t.Errorf("%+v, then %+v", first, second)
		}
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		err := c.FollowAudit(ctx, client.AuditQuery{Kind: "nonsense"}, nil, nil)
		if !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("a kind that is none: %v", err)
		}
	})
}
