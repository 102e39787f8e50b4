package node

import (
	"context"
	"sync"
	"time"
)

// kept is an answer that counts for a while for all who ask. It is safe for concurrent use.
type kept[T any] struct {
	mu    sync.Mutex
	at    time.Time
	value T
	err   error
	under chan struct{} // closed when what is being asked for is there; nil: nothing is
}

const (
	// keptWait is how long it is waited for an answer where there is another one that is not older than keptLate.
	keptWait = 20 * time.Millisecond
	keptLate = time.Minute
)

// get returns the answer, which it asks for when the last one is older than it lasts. Whoever waits for it does not wait for
// long: the answer is for all, and does not end with who has asked; and where it takes its time, the last one is good enough.
func (k *kept[T]) get(ctx context.Context, lasts time.Duration, ask func(context.Context) (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.at.IsZero() && time.Since(k.at) < lasts {
		return k.value, k.err
	}
	if k.under == nil {
		k.under = make(chan struct{})
		go k.ask(context.WithoutCancel(ctx), ask)
	}
	var late <-chan time.Time
	if !k.at.IsZero() && k.err == nil && time.Since(k.at) < keptLate {
		timer := time.NewTimer(keptWait)
		defer timer.Stop()
		late = timer.C
	}
	under := k.under
	k.mu.Unlock()
	select {
	case <-under:
	case <-late:
	}
	k.mu.Lock()
	return k.value, k.err
}

// ask has another answer.
func (k *kept[T]) ask(ctx context.Context, ask func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	value, err := ask(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	close(k.under)
	k.value, k.err, k.at, k.under = value, err, time.Now(), nil
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
