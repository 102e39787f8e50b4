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
func TuneMemory() { tune(garbageOfServer) }

// KeepWithin tunes the garbage collector of this process for a live heap that varies with the due jobs. A collection
// starts when the heap reaches total bytes. If the live heap is close to total or larger, it may grow by a quarter.
// Call it under the same conditions as TuneMemory.
func KeepWithin(total uint64) {
	tune(func(live uint64) uint64 { return max(total, live) - live })
}

// The process returns its free memory to the system if it has allocated little for a while: less than idle in the last
// quiet time, and at least returns since the last time. Go collects every two minutes at least.
const (
	quiet   = time.Minute
	idle    = 32 << 20
	returns = 8 << 20
)

// tuner sets the garbage limit after every collection.
type tuner struct {
	garbage   func(live uint64) uint64
	collected time.Time // when the last collection was
	allocated uint64    // bytes that the process had allocated by that time
	returned  uint64    // and when it returned memory
}

func tune(garbage func(live uint64) uint64) {
	t := tuner{garbage: garbage, collected: time.Now()}
	t.tune()
}

func (t *tuner) tune() {
	live, now, allocated := read("/gc/heap/live:bytes"), time.Now(), read("/gc/heap/allocs:bytes")
	debug.SetGCPercent(gcPercent(live, t.garbage(live)))
	if now.Sub(t.collected) > quiet && allocated-t.allocated < idle && allocated-t.returned > returns {
		t.returned = allocated
		go debug.FreeOSMemory() // it collects, too
	}
	t.collected, t.allocated = now, allocated
	runtime.SetFinalizer(&sentinel{0}, func(*sentinel) { t.tune() }) // runs after the next collection
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

// read reads a metric of the runtime.
func read(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
