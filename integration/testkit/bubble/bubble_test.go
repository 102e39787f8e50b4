package bubble

import (
	"runtime"
	"testing"
	"time"
)

// TestTimersAtOnce has many goroutines receive from tickers that are due at the same time, of which they await one after the
// other. With two processors, the race detector does not survive that for long.
func TestTimersAtOnce(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	for range 4 {
		Test(t, func(t *testing.T) {
			for range 8 {
				go twoTickers(t.Context().Done())
			}
			time.Sleep(5 * time.Second)
		})
	}
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("%d processors, and %d before", after, before)
	}
}

func twoTickers(done <-chan struct{}) {
	a, b := time.NewTicker(time.Millisecond), time.NewTicker(time.Millisecond)
	defer a.Stop()
	defer b.Stop()
	for {
		for _, tick := range []*time.Ticker{a, b} {
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}
}

// TestBeside has bubbles last while others begin and end.
func TestBeside(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Run("bubbles", func(t *testing.T) {
		for _, name := range []string{"one", "two", "three"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for range 100 {
					Test(t, func(t *testing.T) {
						time.Sleep(time.Second)
						if n := runtime.GOMAXPROCS(0); n != 1 {
							t.Errorf("%d processors in a bubble", n)
						}
					})
				}
			})
		}
	})
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("%d processors, and %d before", after, before)
	}
}
