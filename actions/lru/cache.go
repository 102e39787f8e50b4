// Package lru caches recently used values that are expensive to make, such as clients.
//
// A full cache evicts the least recently used value, even while it is in use. Concurrent misses of one key may
// both make the value, and get the same one. Errors are not cached. For connections, which must stay open while
// in use, see package pool.
package lru

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// Cache keeps values by key. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	max     int
	dropped func(V)

	mu     sync.Mutex
	byKey  map[K]*list.Element // values: *entry[K, V]
	recent list.List           // the one used last in front
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New returns a cache of at most limit values, which must be positive. dropped,
// if it is not nil, is called with each value that goes, and must not use the cache.
func New[K comparable, V any](limit int, dropped func(V)) *Cache[K, V] {
	return &Cache[K, V]{max: limit, dropped: dropped, byKey: map[K]*list.Element{}}
}

// Get returns the value of a key. On a miss it calls build.
func (c *Cache[K, V]) Get(key K, build func() (V, error)) (V, error) {
	if value, ok := c.find(key); ok {
		return value, nil
	}
	value, err := build()
	if err != nil {
		return value, err
	}
	return c.keep(key, value), nil
}

func (c *Cache[K, V]) find(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.recent.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// keep returns the value to use from now on: the given one, unless another was
// faster.
func (c *Cache[K, V]) keep(key K, value V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		return e.Value.(*entry[K, V]).value
	}
	c.byKey[key] = c.recent.PushFront(&entry[K, V]{key, value})
	if c.recent.Len() > c.max {
		oldest := c.recent.Remove(c.recent.Back()).(*entry[K, V])
		delete(c.byKey, oldest.key)
		if c.dropped != nil {
			c.dropped(oldest.value)
		}
	}
	return value
}

// Each calls f with every value, which must not use the cache.
func (c *Cache[K, V]) Each(f func(V)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.recent.Front(); e != nil; e = e.Next() {
		f(e.Value.(*entry[K, V]).value)
	}
}

// Key is a digest of texts.
type Key = [sha256.Size]byte

// Digest returns a key for a list of texts, some of which may be secret. It hashes the length of each text, so
// that different divisions of the same bytes have different keys.
func Digest(texts ...string) Key {
	var b []byte
	for _, text := range texts {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return sha256.Sum256(b)
}
