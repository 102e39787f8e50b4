package climb

import (
	"time"

	"golang.org/x/sys/unix"
)

// processor returns the processor time of this thread. getrusage has a resolution of whole ticks only.
func processor() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
