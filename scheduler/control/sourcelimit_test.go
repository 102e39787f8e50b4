package control_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// TestSourceLimit puts as many sources as a collection may have. They can still change.
func TestSourceLimit(t *testing.T) {
	w := newHarness(t)
	put := func(i int, subject string) (v1.Result, error) {
		k := scheduler.KeyIn("", fmt.Sprintf("s%d", i))
		_, result, err := w.service.PutSource(t.Context(), k, []byte(`{"type": "nats", "nats": {"subject": "`+subject+`"}}`))
		return result, err
	}
	for i := range 100 {
		must.Get(put(i, "shop.orders"))(t)
	}
	if _, err := put(100, "shop.orders"); !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "at most 100 are allowed") {
		t.Errorf("another source: %v", err)
	}
	if result, err := put(99, "shop.refunds"); err != nil || result != v1.Updated {
		t.Errorf("a changed source: %s, %v", result, err)
	}
}
