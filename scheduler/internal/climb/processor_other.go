//go:build !linux

package climb

import "time"

var began = time.Now()

// processor returns the elapsed time, because the processor time of a thread is not available.
func processor() time.Duration { return time.Since(began) }
