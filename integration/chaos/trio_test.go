package chaos

import "testing"

// TestTrio starts a cluster and three schedulers beside it at once.
func TestTrio(t *testing.T) {
	t.Parallel()
	ctx := limited(t)
	c := newTrio(ctx, t)
	for _, p := range []*process{c.serveAt(ctx, "a"), c.serveAt(ctx, "b"), c.serveAt(ctx, "c")} {
		p.ready(ctx, t)
	}
	js := c.connect(ctx, t)
	await(ctx, t, "every stream has its copies", patience, func() bool { return whole(ctx, js) })
	t.Log(leaders(ctx, js))
}
