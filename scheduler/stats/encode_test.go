package stats

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// minutes draws what was done in a minute.
var minutes = rapid.Custom(func(t *rapid.T) Minute {
	m := Minute{}
	for _, n := range m.counts() {
		*n = rapid.Uint64Range(0, 1<<40).Draw(t, "count")
	}
	m.Skipped++ // one that is empty is not written
	for range rapid.IntRange(0, 20).Draw(t, "buckets") {
		m.Lateness[rapid.IntRange(0, buckets-1).Draw(t, "bucket")] = rapid.Uint32().Draw(t, "times")
	}
	return m
})

// hours draws an hour.
var hours = rapid.Custom(func(t *rapid.T) *counted {
	h := &counted{Period: HourOf(noon)}
	for i, m := range rapid.MapOfN(rapid.IntRange(0, 59), minutes, 0, 8).Draw(t, "minutes") {
		h.steps[i] = m
	}
	return h
})

// noon is when the tests are.
var noon = time.Date(2026, 3, 2, 12, 59, 30, 0, time.UTC)

// TestHoursAreReadAsWritten writes hours and reads them.
func TestHoursAreReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hours.Draw(t, "hour")
		got := counted{Period: h.Period}
		if err := decode(h.encode(), func(i int, m *Minute) { got.steps[i] = *m }); err != nil {
			t.Fatal(err)
		}
		if got.steps != h.steps {
			t.Fatal("another hour was read than was written")
		}
	})
}

// FuzzDecode shows that whatever is stored is read, or refused.
func FuzzDecode(f *testing.F) {
	h := &counted{Period: HourOf(noon)}
	h.steps[3] = Minute{Completed: 7, Attempts: 8, Refused: 1}
	h.steps[3].Lateness.Observe(time.Millisecond)
	whole := h.encode()
	for i := range whole {
		f.Add(whole[:i])
	}
	f.Add(whole)
	f.Add([]byte{form, 59, 1, 1, 1, 1, 1, 1, 2, 239, 1, 239, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		err := decode(data, func(i int, _ *Minute) {
			if i < 0 || i > 59 {
				t.Errorf("minute %d", i)
			}
		})
		if len(data) == 0 && err == nil {
			t.Error("nothing was read as an hour")
		}
	})
}

// TestAnHourIsSmall bounds what is stored for one in which much is done, minute by minute.
func TestAnHourIsSmall(t *testing.T) {
	h := &counted{Period: HourOf(noon)}
	for i := range h.steps {
		m := &h.steps[i]
		m.Completed, m.Attempts = 30_000, 30_100
		for d := finest; d < 10*time.Second; d += d / 8 {
			m.Lateness.Observe(d)
		}
	}
	if n := len(h.encode()); n > 20<<10 {
		t.Errorf("%d bytes", n)
	}
}
