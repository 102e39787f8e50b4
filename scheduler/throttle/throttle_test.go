package throttle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler/throttle"
)

// TestThrottle lets each caller have its burst, and then its rate.
func TestThrottle(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		throttled := throttle.New(10, 5)
		times := func(caller string) (n int) {
			for range 100 {
				if _, ok := throttled.Allow(caller); ok {
					n++
				}
			}
			return n
		}
		if a, b, again := times("a"), times("b"), times("a"); a != 5 || b != 5 || again != 0 {
			t.Errorf("got %d of a, %d of b, %d of a again", a, b, again)
		}
		wait, ok := throttled.Allow("a")
		if ok || wait != 100*time.Millisecond {
			t.Errorf("may it: %t, after %s", ok, wait)
		}
		if soon, may := throttled.Peek("a"); may || soon != wait {
			t.Errorf("a look says %t, after %s", may, soon)
		}
		if _, may := throttled.Peek("c"); !may {
			t.Error("who has not come yet may not")
		}
		time.Sleep(wait)
		if n := times("a"); n != 1 {
			t.Errorf("%d times after the wait", n)
		}
		time.Sleep(time.Hour)
		if n := times("a"); n != 5 {
			t.Errorf("%d times after an hour", n)
		}
	})
}

// TestThrottleIsBounded shows that many callers take no more memory than some, and that one who keeps coming is not
// forgotten among them.
func TestThrottleIsBounded(t *testing.T) {
	throttled := throttle.New(1e-9, 10)
	n := 0
	for i := range 200_000 {
		throttled.Allow(fmt.Sprint("address ", i))
		if i%10_000 == 0 {
			if _, ok := throttled.Allow("regular"); ok {
				n++
			}
		}
	}
	if throttled.Len() > 1<<15 {
		t.Errorf("%d callers are kept", throttled.Len())
	}
	if n != 10 {
		t.Errorf("the regular one was let in %d times, want 10", n)
	}
}

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"fe80::1%eth0": "fe80::/64", "": "", "somewhere": "somewhere",
	} {
		if got := throttle.Network(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}

// TestSet changes how often callers may do something, also to as often as they like and back.
func TestSet(t *testing.T) {
	var absent *throttle.Throttle
	throttled := throttle.New(0, 5)
	for range 100 {
		_, ok := throttled.Allow("a")
		_, may := throttled.Peek("a")
		if _, absence := absent.Allow("a"); !ok || !may || !absence {
			t.Fatal("no limit is one")
		}
	}
	throttled.Set(1e-6, 2)
	allowed := 0
	for range 10 {
		throttled.Set(1e-6, 2) // what stays as it is fills no bucket
		if _, ok := throttled.Allow("a"); ok {
			allowed++
		}
	}
	if allowed != 2 {
		t.Errorf("%d times with a limit of 2", allowed)
	}
	throttled.Set(0, 0)
	if _, ok := throttled.Allow("a"); !ok || throttled.Len() != 0 {
		t.Errorf("without limit: %t, %d callers are kept", ok, throttled.Len())
	}
}
