package embedded

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The bounds of [TuneMemory], in bytes and percent. Over a small heap, a
// collection is not worth its time before there is much garbage; a large one is
// collected sooner than Go does by itself, so that a million waiting jobs take
// little more memory than they are.
const (
	mostGarbage  = 384 << 20 // over an empty heap; a quarter of the heap less over others
	leastGarbage = 128 << 20
	leastPercent = 25
	mostPercent  = 800
)

// TuneMemory adapts the garbage collector of this process, from now on, to a
// NATS server in it: much short-lived garbage over a small heap under load, a
// large and quiet heap with many waiting jobs. Call it once, and not when the
// user has set GOGC or GOMEMLIMIT.
func TuneMemory() { tune(garbageOfServer) }

// KeepWithin adapts the garbage collector of this process, from now on, to a heap
// that grows and shrinks with what falls due: the less is in use, the later it is
// collected, so that the heap comes to total bytes before it is. One that is in
// use almost wholly, or is larger, grows by a quarter. Call it as TuneMemory.
func KeepWithin(total uint64) {
	tune(func(live uint64) uint64 { return max(total, live) - live })
}

// tune lets as much garbage be as there is to be over a live heap, collection by
// collection.
func tune(garbage func(live uint64) uint64) {
	live := liveHeap()
	debug.SetGCPercent(gcPercent(live, garbage(live)))
	runtime.SetFinalizer(&sentinel{0}, func(*sentinel) { tune(garbage) }) // runs after the next collection
}

// garbageOfServer is what is to be over a live heap of a NATS server.
func garbageOfServer(live uint64) uint64 {
	if less := live / 4; less < mostGarbage-leastGarbage {
		return mostGarbage - less
	}
	return leastGarbage
}

// sentinel is an object that each collection finds unused.
type sentinel [16]byte

// gcPercent is the growth that leaves an amount of garbage on a heap.
func gcPercent(live, garbage uint64) int {
	percent := garbage * 100 / max(live, 1<<20)
	return int(min(max(percent, leastPercent), mostPercent))
}

// liveHeap is what the last collection found in use, in bytes.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return mostGarbage
	}
	return sample[0].Value.Uint64()
}
