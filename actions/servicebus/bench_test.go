package servicebus_test

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
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
