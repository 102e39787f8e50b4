package embedded

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Limits of [TuneMemory], in bytes and percent. A small heap is collected less often than by default, because
// collecting little garbage wastes time. A large heap is collected more often, so that a million waiting jobs need
// little more memory than their data.
const (
	mostGarbage  = 384 << 20 // for an empty heap; decreases by a quarter of the live heap
	leastGarbage = 128 << 20
	leastPercent = 25
	mostPercent  = 800
)

// TuneMemory tunes the garbage collector of this process for an embedded NATS server: under load, much short-lived
// garbage and a small live heap; with many waiting jobs, a large quiet heap. Call it once, unless the user has set GOGC
// or GOMEMLIMIT.
func TuneMemory() { tune(garbageOfServer, time.Now()) }

// KeepWithin tunes the garbage collector of this process for a live heap that varies with the due jobs. A collection
// starts when the heap reaches total bytes. If the live heap is close to total or larger, it may grow by a quarter.
// Call it under the same conditions as TuneMemory.
func KeepWithin(total uint64) {
	tune(func(live uint64) uint64 { return max(total, live) - live }, time.Now())
}

// quiet is the time without a collection after which the process returns its free memory to the system. Go collects every
// two minutes at least.
const quiet = time.Minute

// tune sets the garbage limit after every collection. last is the time of the one before.
func tune(garbage func(live uint64) uint64, last time.Time) {
	live, now := liveHeap(), time.Now()
	debug.SetGCPercent(gcPercent(live, garbage(live)))
	if now.Sub(last) > quiet {
		go debug.FreeOSMemory() // it collects, too
	}
	runtime.SetFinalizer(&sentinel{0}, func(*sentinel) { tune(garbage, now) }) // runs after the next collection
}

// garbageOfServer returns the garbage limit for a live heap of a NATS server.
func garbageOfServer(live uint64) uint64 {
	if less := live / 4; less < mostGarbage-leastGarbage {
		return mostGarbage - less
	}
	return leastGarbage
}

// sentinel is an object that becomes garbage at the next collection.
type sentinel [16]byte

// gcPercent returns the GOGC value for a garbage limit.
func gcPercent(live, garbage uint64) int {
	percent := garbage * 100 / max(live, 1<<20)
	return int(min(max(percent, leastPercent), mostPercent))
}

// liveHeap returns the bytes that the last collection found in use.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return mostGarbage
	}
	return sample[0].Value.Uint64()
}
