package node

import (
	"context"
	"sync"
	"time"
)

// kept is an answer that counts for a while for all who ask. The zero value has none yet.
type kept[T any] struct {
	mu    sync.Mutex // held while it is asked for
	at    time.Time
	value T
	err   error
}

// get returns the answer, which it asks for when the last one is too old. Whoever waits for it does not wait for long: the
// answer is for all, and does not end with who has asked.
func (k *kept[T]) get(ctx context.Context, lasts time.Duration, ask func(context.Context) (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at.IsZero() || time.Since(k.at) >= lasts {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		k.value, k.err = ask(ctx)
		k.at = time.Now()
	}
	return k.value, k.err
}

// set gives it another value, and last returns it.
func (k *kept[T]) set(value T) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.value, k.at = value, time.Now()
}

func (k *kept[T]) last() (T, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.value, !k.at.IsZero()
}
