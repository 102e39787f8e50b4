package connlimit

import "time"

// Patience makes the limiter wait for less until an answer is taken.
func (c *Limiter) Patience(taken time.Duration) { c.taken = taken }
