package chaos

import (
	"testing"
	"time"
)

func TestScratch(t *testing.T) {
	ctx := limited(t)
	n := 10000
	target := newSink(t, nil)
	url := natsd(ctx, t, t.TempDir(), "127.0.0.1:0").ready(ctx, t).NATS
	replicas := []*process{serve(ctx, t, url, "first"), serve(ctx, t, url, "second")}
	apis := make([]*api, len(replicas))
	for i, p := range replicas {
		apis[i] = newAPI(t, p.ready(ctx, t).HTTP)
	}
	js := jet(t, url)
	at := time.Now().Add(8 * time.Second).UTC()
	putAll(ctx, t, apis, n, newJob(target.url, at))
	records := follow(ctx, t, js)
	await(ctx, t, "x", patience, func() bool { return records.occurrences() == n && messages(ctx, js, timersStream) == 0 })
	replicas[0].kill()
	t.Logf("killed %s after instant", time.Since(at))
	var last int
	within(ctx, 45*time.Second, func() bool {
		r, err := apis[1].doctor(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) != last {
			t.Logf("%s after kill: %d waiting %d running %d findings", time.Since(at), r.Waiting, r.Running, len(r.Findings))
			last = len(r.Findings)
		}
		return false
	})
}
