package servicebus

import (
	"context"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

const (
	lagEvery   = 30 * time.Second // interval of requests for the lag
	lagTimeout = 10 * time.Second // of a request
)

// follow reports the lag of the source, the number of active messages, until stop is called. The management API, which
// counts them, needs the right Manage, and receiving does not. So an API that refuses or does not answer is no error of
// the source, and the lag stays unknown.
//
// A connection string names the host of the API, but not its port: it is 443. The API of an emulator has another port,
// without TLS, so the lag of an entity at a plain endpoint stays unknown too.
func (r *receiver) follow(ctx context.Context, a account, over egress.Transporter) (stop func()) {
	a.place.port = portTLS // which authority omits
	api, err := admin.NewClientFromConnectionString(a.connectionString(), &admin.ClientOptions{ClientOptions: azcore.ClientOptions{
		Retry: policy.RetryOptions{MaxRetries: -1}, Telemetry: policy.TelemetryOptions{ApplicationID: "Carillon"}, Transport: over,
	}})
	if err != nil || a.place.plain {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var counter sync.WaitGroup
	counter.Go(func() {
		for more := true; more; more = flow.Pause(ctx, lagEvery) {
			r.feed.Lag(r.count(ctx, api))
		}
	})
	return func() {
		cancel()
		counter.Wait()
	}
}

// count returns the number of active messages of the entity; -1: unknown.
func (r *receiver) count(ctx context.Context, api *admin.Client) (n int64) {
	n = -1
	defer func() { _ = recover() }() // the SDK panics when a response lacks a count
	ctx, cancel := context.WithTimeout(ctx, lagTimeout)
	defer cancel()
	if r.from.Queue != "" {
		if p, err := api.GetQueueRuntimeProperties(ctx, r.from.Queue, nil); err == nil && p != nil {
			n = int64(p.ActiveMessageCount)
		}
	} else if p, err := api.GetSubscriptionRuntimeProperties(ctx, r.from.Topic, r.from.Subscription, nil); err == nil && p != nil {
		n = int64(p.ActiveMessageCount)
	}
	return n
}
