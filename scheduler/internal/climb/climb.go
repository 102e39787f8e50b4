package climb

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"
)

// Climb is a search for the inputs that cost the most.
type Climb[T any] struct {
	// Seeds are where the search begins, at least one; the more kinds of
	// input there are among them, the more it finds.
	Seeds []T

	// Mutate returns a changed copy of an input. other is another one, to
	// take parts from.
	Mutate func(r *rand.Rand, input, other T) T

	// Do is what costs. It does its work on the goroutine that it is called
	// on: the time of others is not counted.
	Do func(T)
}

// FuzzTime is the environment variable that says how long to climb.
const FuzzTime = "CARILLON_FUZZ_TIME"

// usual is the default duration of a search.
const usual = 2 * time.Second

// remeasured is how often an input is measured again before its cost is
// believed; the least counts.
const remeasured = 2

// Worst is the result of a search.
type Worst[T any] struct {
	Runs    int // inputs tried
	Slowest Found[T]
	Largest Found[T] // in bytes allocated
}

// Found is an input with its cost.
type Found[T any] struct {
	Cost

	Input T
}

// Run searches, and logs the result.
func (c Climb[T]) Run(tb testing.TB) Worst[T] {
	tb.Helper()
	span, _ := Span(tb)
	end := time.Now().Add(span)
	s := search[T]{Climb: c, rand: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))} //nolint:gosec // nothing secret
	for _, seed := range c.Seeds {
		s.lines = append(s.lines, line[T]{s.measured(seed), s.measured(seed)})
	}
	for time.Now().Before(end) {
		s.step()
	}
	w := s.worst()
	tb.Logf("%d inputs tried; slowest %s, most allocated %d KiB", w.Runs, w.Slowest.Processor, w.Largest.Allocated>>10)
	return w
}

// Check fails the test if an input cost more than the limits. With the race detector, the limit of processor time is
// ten times as high.
func (w Worst[T]) Check(tb testing.TB, processor time.Duration, allocated uint64) {
	tb.Helper()
	if w.Slowest.Processor > processor*slowdown {
		tb.Errorf("%s of processor time, %s are allowed, for\n%s", w.Slowest.Processor, processor*slowdown, excerpt(w.Slowest.Input))
	}
	if w.Largest.Allocated > allocated {
		tb.Errorf("%d KiB allocated, %d are allowed, for\n%s", w.Largest.Allocated>>10, allocated>>10, excerpt(w.Largest.Input))
	}
}

// search is a climb under way. Each seed begins a line, so that one kind of
// input does not displace the others.
type search[T any] struct {
	Climb[T]

	rand  *rand.Rand
	lines []line[T]
	runs  int
}

// line is the costliest inputs that came from a seed.
type line[T any] struct{ slowest, largest Found[T] }

// Span is how long a test searches at random: two seconds, or what [FuzzTime] says if it was asked for.
func Span(tb testing.TB) (span time.Duration, asked bool) {
	tb.Helper()
	text := os.Getenv(FuzzTime) //nolint:forbidigo // the package is for tests
	if text == "" {
		return usual, false
	}
	span, err := time.ParseDuration(text)
	if err != nil {
		tb.Fatalf("%s: %v", FuzzTime, err)
	}
	return span, true
}

// Rounds counts the rounds of a randomized test: count, or a tenth of it with -short. It adds rounds until enough returns true,
// at most ten times count. With [FuzzTime] it continues for the whole duration.
func Rounds(tb testing.TB, count int, enough func() bool) iter.Seq[int] {
	tb.Helper()
	most := 10 * count
	if testing.Short() {
		count /= 10
	}
	span, asked := Span(tb)
	end := time.Now().Add(span)
	return func(yield func(int) bool) {
		for n := 0; n < count || n < most && !enough() || asked && time.Now().Before(end); n++ {
			if !yield(n) {
				return
			}
		}
	}
}

// step tries one change of a known input.
func (s *search[T]) step() {
	l := &s.lines[s.pick()]
	other := s.lines[s.rand.IntN(len(s.lines))].slowest.Input
	parent := l.slowest
	if s.rand.IntN(3) == 0 {
		parent = l.largest
	}
	input := parent.Input
	for range 1 + s.rand.IntN(4) {
		input = s.Mutate(s.rand, input, other)
	}
	found := Found[T]{s.measure(input), input}
	if found.Allocated > l.largest.Allocated {
		l.largest = found
	}
	for range remeasured { // what another program took from this one is no cost
		if found.Processor <= l.slowest.Processor {
			return
		}
		found.Processor = min(found.Processor, s.measure(input).Processor)
	}
	if found.Processor > l.slowest.Processor {
		l.slowest = found
	}
}

// pick returns the line to continue with: a random one, or the most expensive of a few.
func (s *search[T]) pick() int {
	best := s.rand.IntN(len(s.lines))
	for range s.rand.IntN(8) {
		if i := s.rand.IntN(len(s.lines)); s.lines[i].slowest.Processor > s.lines[best].slowest.Processor {
			best = i
		}
	}
	return best
}

// measured returns an input with the least that it cost in a few runs.
func (s *search[T]) measured(input T) Found[T] {
	least := s.measure(input)
	for range remeasured {
		again := s.measure(input)
		least = Cost{min(least.Processor, again.Processor), min(least.Allocated, again.Allocated)}
	}
	return Found[T]{least, input}
}

func (s *search[T]) measure(input T) Cost {
	s.runs++
	return Measure(func() { s.Do(input) })
}

// worst measures the costliest of all lines once more.
func (s *search[T]) worst() Worst[T] {
	slowest := slices.MaxFunc(s.lines, func(a, b line[T]) int { return cmp.Compare(a.slowest.Processor, b.slowest.Processor) }).slowest
	largest := slices.MaxFunc(s.lines, func(a, b line[T]) int { return cmp.Compare(a.largest.Allocated, b.largest.Allocated) }).largest
	return Worst[T]{s.runs, s.again(slowest), s.again(largest)}
}

func (s *search[T]) again(f Found[T]) Found[T] {
	again := s.measured(f.Input).Cost
	f.Processor, f.Allocated = min(f.Processor, again.Processor), min(f.Allocated, again.Allocated)
	return f
}

// Cost is the cost of a call.
type Cost struct {
	Processor time.Duration // of the thread it ran on, without the garbage collector's own threads
	Allocated uint64        // bytes in total, not the maximum held at a time
}

// Measure returns the cost of a call of f.
func Measure(f func()) Cost {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	allocated, began := allocations(), processor()
	f()
	took := processor() - began
	return Cost{took, allocations() - allocated}
}

// allocations returns the bytes that this process has allocated since it began.
func allocations() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// excerpt shows an input, shortened in the middle when it is long.
func excerpt(input any) string {
	const most, end = 4000, 500
	text := fmt.Sprintf("%q", input)
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s … %s (%d bytes)", text[:most-end], text[len(text)-end:], len(text))
}

// Text changes texts.
type Text struct {
	Tokens []string // inserted texts, such as the keywords and punctuation of a language
	Most   int      // bytes; what becomes longer is cut off
}

// Mutate returns input with one change: parts repeated, taken out, moved, or taken from another text, tokens put in.
func (t Text) Mutate(r *rand.Rand, input, other string) string {
	at := r.IntN(len(input) + 1)
	from, to := part(r, input)
	var s string
	switch r.IntN(9) {
	case 0: // a token, many times
		s = input[:at] + strings.Repeat(t.token(r), t.times(r, 2)) + input[at:]
	case 1: // a token
		s = input[:at] + t.token(r) + input[at:]
	case 2: // a part, many times
		s = input[:to] + strings.Repeat(input[from:to], t.times(r, to-from)) + input[to:]
	case 3: // without a part
		s = input[:from] + input[to:]
	case 4: // a part of the other
		from, to := part(r, other)
		s = input[:at] + other[from:to] + input[at:]
	case 5: // repeats a part, up to the maximum length
		s = input[:to] + strings.Repeat(input[from:to], max(0, t.Most-len(input))/max(1, to-from)) + input[to:]
	case 6: // a token in place of a part
		s = input[:from] + t.token(r) + input[to:]
	case 7: // a part in another place
		s = input[:from] + input[to:]
		at = r.IntN(len(s) + 1)
		s = s[:at] + input[from:to] + s[at:]
	default: // one token in place of another
		s = strings.ReplaceAll(input, t.token(r), t.token(r))
	}
	return s[:min(len(s), t.Most)]
}

func (t Text) token(r *rand.Rand) string { return t.Tokens[r.IntN(len(t.Tokens))] }

// times returns how often to repeat something of a length: a few times, or as often as there is room.
func (t Text) times(r *rand.Rand, length int) int {
	return 1 + r.IntN(min(1+t.Most/max(1, length), 1<<(1+r.IntN(14))))
}

// part returns the bounds of a part of a text, mostly a short one.
func part(r *rand.Rand, s string) (from, to int) {
	if s == "" {
		return 0, 0
	}
	from = r.IntN(len(s))
	return from, from + 1 + r.IntN(min(len(s)-from, 1<<(1+r.IntN(14))))
}
