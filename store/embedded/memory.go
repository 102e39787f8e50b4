package embedded

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The bounds of [TuneMemory]. Below gcHeadroom of garbage a collection is not
// worth its time; a heap much larger than that is collected sooner than Go
// does by itself, so that a million jobs take little more memory than they are.
const (
	gcHeadroom   = 384 << 20 // bytes
	leastPercent = 50
	mostPercent  = 800
)

// TuneMemory adapts the garbage collector of this process, from now on, to a
// NATS server in it: much short-lived garbage over a small heap under load, a
// large and quiet heap with many waiting jobs. Call it once, and not when the
// user has set GOGC or GOMEMLIMIT.
func TuneMemory() {
	debug.SetGCPercent(gcPercent(liveHeap()))
	runtime.SetFinalizer(&sentinel{0}, func(*sentinel) { TuneMemory() }) // runs after the next collection
}

// sentinel is an object that each collection finds unused.
type sentinel [16]byte

// gcPercent is the growth that leaves about gcHeadroom of garbage on a heap.
func gcPercent(live uint64) int {
	percent := gcHeadroom * 100 / max(live, 1<<20)
	return int(min(max(percent, leastPercent), mostPercent))
}

// liveHeap is what the last collection found in use, in bytes.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return gcHeadroom
	}
	return sample[0].Value.Uint64()
}
