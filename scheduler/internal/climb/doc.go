// Package climb supports tests that search for the most expensive inputs of a function by hill climbing. It runs the
// seeds, mutates the most expensive inputs at random, and keeps each mutation that increases the cost, in processor
// time or in allocated bytes. A coverage-guided fuzzer does not find such inputs, because quadratic code takes the same
// branches as linear code.
//
// A test searches with [Climb.Run] and compares the result with its limits:
//
//	worst := climb.Climb[string]{
//		Seeds: seeds, Mutate: climb.Text{Tokens: tokens, Most: 16 << 10}.Mutate, Do: func(s string) { document.Parse([]byte(s)) },
//	}.Run(t)
//	worst.Check(t, 50*time.Millisecond, 20<<20)
//
// A search takes two seconds, or the value of the environment variable CARILLON_FUZZ_TIME, such as 1m.
package climb
