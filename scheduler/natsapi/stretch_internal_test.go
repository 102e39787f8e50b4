package natsapi

import (
	"testing"
	"time"
)

// TestStretch shows when the stream need not be asked whether a spec is the first of its name.
func TestStretch(t *testing.T) {
	came := func(sequences ...uint64) func(*stretch) {
		return func(s *stretch) {
			for _, n := range sequences {
				s.came(n, 1)
			}
		}
	}
	again := func(sequence uint64) func(*stretch) { return func(s *stretch) { s.came(sequence, 2) } }
	learn := func(first uint64) func(*stretch) { return func(s *stretch) { s.learn(first) } }
	for name, test := range map[string]struct {
		steps []func(*stretch)
		of    uint64
		known bool
		ask   bool
	}{
		"nothing came":                     {nil, 1, false, false},
		"the first, not asked yet":         {[]func(*stretch){came(7)}, 7, false, true},
		"nothing is left before":           {[]func(*stretch){came(7, 8, 9), learn(7)}, 9, true, false},
		"and the first ones are done with": {[]func(*stretch){came(7, 8, 9), learn(9)}, 9, true, false},
		"one before is left":               {[]func(*stretch){came(7, 8, 9), learn(6)}, 9, false, true},
		"what comes later is of it":        {[]func(*stretch){came(7), learn(7), came(8, 9)}, 9, true, false},
		"what has not come":                {[]func(*stretch){came(7), learn(7)}, 8, false, false},
		"another process has one":          {[]func(*stretch){came(7), learn(7), came(9)}, 9, false, true},
		"of before the gap":                {[]func(*stretch){came(7), learn(7), came(9), learn(9)}, 7, false, false},
		"the gap is done with":             {[]func(*stretch){came(7), learn(7), came(9), learn(9)}, 9, true, false},
		"delivered again, of another":      {[]func(*stretch){came(7), learn(7), again(3)}, 3, false, false},
		"and what came stays in order":     {[]func(*stretch){came(7), learn(7), again(3)}, 7, true, false},
		"one was given back":               {[]func(*stretch){came(7, 8), learn(7), (*stretch).gaveBack}, 8, false, false},
		"what comes after that":            {[]func(*stretch){came(7, 8), learn(7), (*stretch).gaveBack, came(9)}, 9, false, true},
		"the stream was made anew":         {[]func(*stretch){came(7, 8), learn(7), came(1), learn(1)}, 1, true, false},
	} {
		s := &stretch{}
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
	s, now := &stretch{}, time.Now()
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
