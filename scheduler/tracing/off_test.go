package tracing_test

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/tracing"
)

// idle is an action that does nothing.
type idle struct{ scheduler.Action }

func (idle) Target() string { return "target:80" }

// through goes the way of a request and of the attempt that follows from it.
func through(tb testing.TB, tracer *tracing.Tracer) func() {
	tb.Helper()
	header := map[string][]string{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
	key, now := scheduler.Key{Collection: "default", Job: "job"}, time.Now()
	baton := &scheduler.Baton{Nominal: now, Due: now}
	attempt := baton.AttemptOf(key)
	fired := tracing.Fired{
		Job: &scheduler.Job{Key: key}, Baton: baton, Action: &scheduler.ActionSpec{Type: "Http", Run: idle{}}, Attempt: attempt,
		At: now.Add(-time.Second), Wake: now, Now: now,
	}
	return func() {
		ctx, request := tracer.Request(tb.Context(), "PUT", header)
		ctx, arm := tracing.Arm(ctx, key, now)
		_ = tracing.Edit(ctx)
		arm.End(nil)
		request.Answered("PUT /job", "/job", 200)
		_, spans := tracer.Begin(tb.Context(), fired)
		_, _ = spans.Context(), spans.Trace()
		spans.End(scheduler.Result{Status: 200}, nil)
	}
}

// TestOffCostsNothing counts what is allocated where nothing is traced.
func TestOffCostsNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, through(t, nil)); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkSpans is what a request and an attempt cost: off, not sampled, and recorded but not sent.
func BenchmarkSpans(b *testing.B) {
	for name, tracer := range map[string]*tracing.Tracer{
		"off":         nil,
		"not sampled": tracing.New(trace.NewTracerProvider(trace.WithSampler(trace.NeverSample()))),
		"recorded":    tracing.New(trace.NewTracerProvider(trace.WithSampler(trace.AlwaysSample()))),
	} {
		b.Run(name, func(b *testing.B) {
			way := through(b, tracer)
			b.ReportAllocs()
			for b.Loop() {
				way()
			}
		})
	}
}
