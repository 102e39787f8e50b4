package servicebus_test

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/carillon-sched/carillon/actions/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
)

const benchBody = `{"order":"4711","amount":12.5}`

// BenchmarkInvoke runs attempts against an emulator in this process, so its
// work is part of each number.
func BenchmarkInvoke(b *testing.B) {
	for _, workers := range []int{1, 64, 256, 1024} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			_, client := start(b)
			action := toQueue(b, client, "q1", fmt.Sprintf(`"message":%q`, benchBody))
			succeed(b, action, attempt())
			b.ReportAllocs()
			b.ResetTimer()
			spread(b, workers, func(i int64) {
				at := attempt()
				at.Key += strconv.FormatInt(i, 10)
				if result := action.Invoke(b.Context(), at); result.Failed {
					b.Error(result.Message)
				}
			})
		})
	}
}

// BenchmarkHerd runs 20,000 attempts at once, of a client that has no
// connection yet.
func BenchmarkHerd(b *testing.B) {
	const herd = 20_000
	for b.Loop() {
		b.StopTimer()
		server := emulatortest.ServiceBus(b, emulator.Config{AutoCreate: true})
		client := servicebus.New(dev(server))
		action := toQueue(b, client, "q1", fmt.Sprintf(`"message":%q`, benchBody))
		b.StartTimer()
		var group sync.WaitGroup
		for i := range herd {
			group.Go(func() {
				if result := action.Invoke(b.Context(), keyed(strconv.Itoa(i))); result.Failed {
					b.Error(result.Message)
				}
			})
		}
		group.Wait()
		b.StopTimer()
		client.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.N)*herd/b.Elapsed().Seconds(), "sends/s")
}

// spread calls f b.N times from that many goroutines, and reports the rate.
func spread(b *testing.B, workers int, f func(i int64)) {
	b.Helper()
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				f(i)
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sends/s")
}

// BenchmarkReadAction is what a herd of jobs costs that were not cached.
func BenchmarkReadAction(b *testing.B) {
	client := servicebus.New(servicebus.Config{KeyOptional: true})
	b.ReportAllocs()
	for b.Loop() {
		toQueue(b, client, "q1", `"message":"hello","customMessageProperties":{"appname":"FromScheduler"}`)
	}
}
