package lru_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/carillon-sched/carillon/actions/lru"
)

func TestCache(t *testing.T) {
	var made, dropped []string
	c := lru.New[string](2, func(v string) { dropped = append(dropped, v) })
	get := func(key string) {
		t.Helper()
		got, err := c.Get(key, func() (string, error) {
			made = append(made, key)
			return "<" + key + ">", nil
		})
		if got != "<"+key+">" || err != nil {
			t.Errorf("%s: got %s, %v", key, got, err)
		}
	}
	for _, key := range []string{"a", "b", "a", "c", "a", "b"} {
		get(key)
	}
	if want := []string{"a", "b", "c", "b"}; !slices.Equal(made, want) {
		t.Errorf("made %v, want %v", made, want)
	}
	if want := []string{"<b>", "<c>"}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %v, want %v", dropped, want)
	}
	var all []string
	c.Each(func(v string) { all = append(all, v) })
	if want := []string{"<b>", "<a>"}; !slices.Equal(all, want) {
		t.Errorf("has %v, want %v", all, want)
	}
}

func TestFailure(t *testing.T) {
	c := lru.New[string, int](2, nil)
	broken := errors.New("broken")
	if _, err := c.Get("a", func() (int, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if got, err := c.Get("a", func() (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Errorf("got %d, %v: a failure was remembered", got, err)
	}
}

// TestOneValue has many who miss a value at the same time: they get the same.
func TestOneValue(t *testing.T) {
	c := lru.New[string, *int](2, nil)
	const callers = 50
	values := make([]*int, callers)
	var ready, group sync.WaitGroup
	ready.Add(callers)
	for i := range callers {
		group.Go(func() {
			values[i], _ = c.Get("a", func() (*int, error) {
				ready.Done()
				ready.Wait() // for all to miss it
				return new(int), nil
			})
		})
	}
	group.Wait()
	if len(slices.Compact(values)) != 1 {
		t.Error("got different values")
	}
}
