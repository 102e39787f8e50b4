// Package climb is for tests: it looks for the inputs that cost a function the most, by hill climbing. It runs the seeds,
// changes the costliest inputs that it knows at random, and keeps each change that makes one cost more, in processor time
// or in bytes allocated. A fuzzer that looks for new branches does not find these: what is quadratic takes no other
// branches than what is not.
//
// A test asks for the costliest inputs with [Climb.Run] and compares them with what it allows:
//
//	worst := climb.Climb[string]{
//		Seeds: seeds, Mutate: climb.Text{Tokens: tokens, Most: 16 << 10}.Mutate, Do: func(s string) { document.Parse([]byte(s)) },
//	}.Run(t)
//	worst.Check(t, 50*time.Millisecond, 20<<20)
//
// It climbs for two seconds, or for as long as the environment variable CARILLON_FUZZ_TIME says, such as 1m.
package climb
