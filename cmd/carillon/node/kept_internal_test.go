package node

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
)

// TestKept has answers that are quick, slow, and fail.
func TestKept(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const lasts = time.Second
		var k kept[int]
		takes, asked := 500*time.Millisecond, 0
		var fails error
		get := func(what string, want int, err error, took time.Duration) {
			t.Helper()
			began := time.Now()
			got, e := k.get(t.Context(), lasts, func(context.Context) (int, error) {
				asked++
				n, err := asked, fails
				time.Sleep(takes)
				return n, err
			})
			if got != want || !errors.Is(e, err) || time.Since(began) != took {
				t.Errorf("%s: %d, %v after %s", what, got, e, time.Since(began))
			}
		}
		get("the first is waited for", 1, nil, takes)
		get("it lasts", 1, nil, 0)
		time.Sleep(lasts)
		get("a slow one", 1, nil, keptWait)
		get("of which there is one", 1, nil, keptWait)
		time.Sleep(takes)
		get("then it is there", 2, nil, 0)
		time.Sleep(keptLate)
		get("what is old is not good enough", 3, nil, takes)
		time.Sleep(lasts)
		takes = keptWait / 2
		get("a quick one", 4, nil, takes)
		time.Sleep(lasts)
		fails = errors.New("no store")
		get("one that fails", 5, fails, takes)
		time.Sleep(lasts)
		fails, takes = nil, time.Second
		get("after an error it is waited", 6, nil, takes)
	})
}
