package natsapi

import (
	"testing"
	"time"
)

// TestStretch shows when the stream need not be asked whether a spec is the first of its name.
func TestStretch(t *testing.T) {
	came := func(sequences ...uint64) func(*ownedRange) {
		return func(s *ownedRange) {
			for _, n := range sequences {
				s.came(n, 1)
			}
		}
	}
	again := func(sequence uint64) func(*ownedRange) { return func(s *ownedRange) { s.came(sequence, 2) } }
	learn := func(first uint64) func(*ownedRange) { return func(s *ownedRange) { s.learn(first) } }
	for name, test := range map[string]struct {
		steps []func(*ownedRange)
		of    uint64
		known bool
		ask   bool
	}{
		"nothing came":                     {nil, 1, false, false},
		"the first, not asked yet":         {[]func(*ownedRange){came(7)}, 7, false, true},
		"nothing is left before":           {[]func(*ownedRange){came(7, 8, 9), learn(7)}, 9, true, false},
		"and the first ones are done with": {[]func(*ownedRange){came(7, 8, 9), learn(9)}, 9, true, false},
		"one before is left":               {[]func(*ownedRange){came(7, 8, 9), learn(6)}, 9, false, true},
		"what comes later is of it":        {[]func(*ownedRange){came(7), learn(7), came(8, 9)}, 9, true, false},
		"what has not come":                {[]func(*ownedRange){came(7), learn(7)}, 8, false, false},
		"another process has one":          {[]func(*ownedRange){came(7), learn(7), came(9)}, 9, false, true},
		"of before the gap":                {[]func(*ownedRange){came(7), learn(7), came(9), learn(9)}, 7, false, false},
		"the gap is done with":             {[]func(*ownedRange){came(7), learn(7), came(9), learn(9)}, 9, true, false},
		"delivered again, of another":      {[]func(*ownedRange){came(7), learn(7), again(3)}, 3, false, false},
		"and what came stays in order":     {[]func(*ownedRange){came(7), learn(7), again(3)}, 7, true, false},
		"one was given back":               {[]func(*ownedRange){came(7, 8), learn(7), (*ownedRange).gaveBack}, 8, false, false},
		"what comes after that":            {[]func(*ownedRange){came(7, 8), learn(7), (*ownedRange).gaveBack, came(9)}, 9, false, true},
		"the stream was made anew":         {[]func(*ownedRange){came(7, 8), learn(7), came(1), learn(1)}, 1, true, false},
	} {
		s := &ownedRange{}
		for _, step := range test.steps {
			step(s)
		}
		if known, ask := s.has(test.of, time.Now()); known != test.known || ask != test.ask {
			t.Errorf("%s: known %t, ask %t", name, known, ask)
		}
	}
}

// TestStretchIsAskedForSeldom has many specs wait for the same answer.
func TestStretchIsAskedForSeldom(t *testing.T) {
	s, now := &ownedRange{}, time.Now()
	s.came(1, 1)
	for _, test := range []struct {
		after time.Duration
		ask   bool
	}{{0, true}, {time.Millisecond, false}, {lookPause - 1, false}, {lookPause, true}, {lookPause + 1, false}} {
		if _, ask := s.has(1, now.Add(test.after)); ask != test.ask {
			t.Errorf("after %s: ask %t", test.after, ask)
		}
	}
}
