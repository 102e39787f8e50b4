package instant

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// mapped lists the instants in from…to, whole minutes, that a policy makes of a set of local minutes, straight from
// the policy's definition and with package time's offsets.
func mapped(loc *time.Location, dst DST, set *localtime.Layer, from, to int64) []int64 {
	offset := func(u int64) int64 {
		_, o := time.Unix(u, 0).In(loc).Zone()
		return int64(o)
	}
	has := func(w int64) bool { return set.Dates.Has(w/calendar.DayLength) && set.Times.At(w%calendar.DayLength) }
	found, shown := map[int64]bool{}, map[int64]bool{}
	begin := from - 2*calendar.DayLength // what was shown before from counts for what is shown again
	for u := begin; u <= to; u += 60 {
		before, now := offset(u-60), offset(u)
		for w := u + before; u > begin && w < u+now; w += 60 { // jumped over
			switch {
			case !has(w):
			case dst.Gap == GapNext:
				found[u] = true
			case dst.Gap == GapShift:
				found[w-before] = true
			}
		}
		if w := u + now; has(w) && (dst.Overlap == OverlapBoth || !shown[w]) {
			found[u], shown[w] = true, true
		}
	}
	var list []int64
	for u := range found {
		if u >= from && u <= to {
			list = append(list, u)
		}
	}
	slices.Sort(list)
	return list
}

var everyPolicy = []DST{
	{GapNext, OverlapFirst},
	{GapNext, OverlapBoth},
	{GapShift, OverlapFirst},
	{GapShift, OverlapBoth},
	{GapSkip, OverlapFirst},
	{GapSkip, OverlapBoth},
}

// awkward are zones whose clocks do unusual things: half-hour and two-hour changes, changes at midnight, a day left
// out, winter time that is "daylight saving", Ramadan, one change a year.
var awkward = []string{
	"America/New_York", "Europe/London", "Europe/Dublin", "Australia/Lord_Howe", "Antarctica/Troll", "America/Sao_Paulo",
	"America/Havana", "Asia/Beirut", "Pacific/Apia", "Africa/Casablanca", "Asia/Kathmandu", "America/St_Johns",
	"Pacific/Chatham", "Asia/Gaza", "America/Godthab", "Africa/Monrovia", "Europe/Volgograd", "Antarctica/Casey", "UTC",
}

// TestZonedAtChanges compares every policy with its definition, around changes of awkward clocks.
func TestZonedAtChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range awkward {
		loc := must.Get(tz.Load(name))(t)
		for range 12 {
			year := time.Date(1970+r.IntN(150), 1, 1, 0, 0, 0, 0, time.UTC).Unix()
			change := tz.Of(loc).At(year).End
			if change == calendar.Forever || change%60 != 0 {
				continue
			}
			set := &localtime.Layer{Dates: calendar.EveryDate, Times: randomTimes(r)}
			for _, dst := range everyPolicy {
				from, to := change-30*3600, change+30*3600
				checkInstants(t, NewZoned(localtime.Of(nil, *set), loc, dst), from, to, mapped(loc, dst, set, from, to))
				if t.Failed() {
					t.Fatalf("%s at %s, %+v, %b", name, time.Unix(change, 0).UTC(), dst, set.Times)
				}
			}
		}
	}
}

// randomTimes returns a few whole minutes of the day, often in the hours in which clocks are changed.
func randomTimes(r *rand.Rand) calendar.Times {
	set := calendar.Times{Seconds: 1}
	for range 1 + r.IntN(4) {
		set.Hours |= 1<<r.IntN(24) | 1<<r.IntN(4)
	}
	for range 1 + r.IntN(3) {
		set.Minutes |= 1<<r.IntN(60) | 1<<(15*r.IntN(4))
	}
	if r.IntN(4) == 0 {
		set.Hours = calendar.AllHours
	}
	return set
}

// checkInstants walks a schedule through from…to with Next, Last and Count.
func checkInstants(t *testing.T, s *Schedule, from, to int64, want []int64) {
	t.Helper()
	var forward []int64
	at, ok := s.Next(time.Unix(from-1, 0))
	for ok && at.Unix() <= to {
		forward = append(forward, at.Unix())
		at, ok = s.Next(at)
	}
	if !slices.Equal(forward, want) {
		t.Errorf("Next:\n got %v\nwant %v", stamps(forward), stamps(want))
	}
	var backward []int64
	at, ok = s.Last(time.Unix(to, 0))
	for ok && at.Unix() >= from {
		backward = append(backward, at.Unix())
		at, ok = s.Last(at.Add(-1))
	}
	slices.Reverse(backward)
	if !slices.Equal(backward, want) {
		t.Errorf("Last:\n got %v\nwant %v", stamps(backward), stamps(want))
	}
	if n := s.Count(time.Unix(from, 0), time.Unix(to, 0)); n != len(want) {
		t.Errorf("Count: got %d, want %d", n, len(want))
	}
}

func stamps(list []int64) []string {
	var text []string
	for _, u := range list {
		text = append(text, time.Unix(u, 0).UTC().Format(time.RFC3339))
	}
	return text
}
