package climb

import (
	"time"

	"golang.org/x/sys/unix"
)

// processor returns the processor time that this thread has used. What getrusage says of a thread counts whole ticks.
func processor() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
