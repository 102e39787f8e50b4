package worker_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestRunsSettleTogether has runs at some hundred a second recorded a few at a time, each shortly after its end, and one
// that is by itself at once.
func TestRunsSettleTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		var mu sync.Mutex
		stored := map[time.Duration]int{} // records, by when they were stored
		due := time.Now().Add(time.Minute).UTC().Truncate(time.Second)
		sub, err := w.nc.Subscribe("carillon.history.>", func(*nats.Msg) {
			mu.Lock()
			defer mu.Unlock()
			stored[time.Since(due).Truncate(time.Millisecond)]++
		})
		w.must(nil, err)
		defer func() { _ = sub.Unsubscribe() }()
		const many = 50
		job := `{"startTime": "%s", "action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "GET"}}}`
		for i := range many {
			w.put(fmt.Sprintf("job%d", i), fmt.Sprintf(job, due.Add(time.Duration(2*i)*time.Millisecond).Format(time.RFC3339Nano)))
		}
		w.put("alone", fmt.Sprintf(job, due.Add(time.Second).Format(time.RFC3339Nano)))
		time.Sleep(time.Until(due) + 5*time.Second)
		mu.Lock()
		defer mu.Unlock()
		records, last := 0, time.Duration(0)
		for at, n := range stored {
			if records += n; at < time.Second {
				last = max(last, at)
			}
		}
		if records != many+1 || len(stored) > 10 || last > 120*time.Millisecond || stored[time.Second] != 1 {
			t.Errorf("%d records, the last of %d that are due in 98 ms after %s: %v", records, many, last, stored)
		}
	})
}
