package sdk

import (
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// lanes is how many sends the benchmark has under way on its sender.
const lanes = 64

// stores are where the benchmarks keep messages.
var stores = map[string]func(testing.TB, *servicebus.Config){
	"memory": func(testing.TB, *servicebus.Config) {},
	"file":   func(tb testing.TB, c *servicebus.Config) { tb.Helper(); c.Data = tb.TempDir() },
}

// BenchmarkServiceBusSend measures sends by the SDK, each of which waits for its answer.
func BenchmarkServiceBusSend(b *testing.B) {
	for name, store := range stores {
		b.Run(name, func(b *testing.B) {
			client := dial(b, startBus(b, queue("orders", ""), func(c *servicebus.Config) { store(b, c) }))
			s := sender(b, client, "orders")
			must.Do(b, s.SendMessage(within(b), text("first"), nil))
			b.ReportAllocs()
			b.SetParallelism(lanes)
			b.ResetTimer()
			ctx, message := b.Context(), text("a body of some forty bytes, as many are")
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := s.SendMessage(ctx, message, nil); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sends/s")
		})
	}
}

// BenchmarkServiceBusReceive measures receiving and completing by the SDK.
func BenchmarkServiceBusReceive(b *testing.B) {
	for name, store := range stores {
		b.Run(name, func(b *testing.B) {
			client := dial(b, startBus(b, queue("orders", ""), func(c *servicebus.Config) { store(b, c) }))
			fill(b, client, b.N)
			r := receiver(b, client, "orders")
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; {
				messages := must.Get(r.ReceiveMessages(b.Context(), min(b.N-done, 1000), nil))(b)
				complete(b, r, messages)
				done += len(messages)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "receives/s")
		})
	}
}

// complete completes messages side by side.
func complete(b *testing.B, r *azservicebus.Receiver, messages []*azservicebus.ReceivedMessage) {
	b.Helper()
	var ended sync.WaitGroup
	for lane := range lanes {
		ended.Go(func() {
			for i := lane; i < len(messages); i += lanes {
				if err := r.CompleteMessage(b.Context(), messages[i], nil); err != nil {
					b.Error(err)
				}
			}
		})
	}
	ended.Wait()
}

// fill sends n messages in batches.
func fill(b *testing.B, client *azservicebus.Client, n int) {
	b.Helper()
	s := sender(b, client, "orders")
	for n > 0 {
		batch := must.Get(s.NewMessageBatch(b.Context(), nil))(b)
		for ; n > 0 && batch.NumMessages() < 1000; n-- {
			must.Do(b, batch.AddMessage(text("a body of some forty bytes, as many are"), nil))
		}
		must.Do(b, s.SendMessageBatch(b.Context(), batch, nil))
	}
}

// BenchmarkServiceBusStart measures from nothing to the first message that was accepted.
func BenchmarkServiceBusStart(b *testing.B) {
	var total time.Duration
	for b.Loop() {
		begun := time.Now()
		server := startBus(b, queue("orders", ""))
		send(b, dial(b, server), "orders", text("first"))
		total += time.Since(begun)
		must.Do(b, server.Close())
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "ms/first")
}
