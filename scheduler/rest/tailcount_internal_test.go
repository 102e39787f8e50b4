package rest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestTailsAreCounted begins live tails of several callers, until there may be no more.
func TestTailsAreCounted(t *testing.T) {
	c := newTailCount(8) // two for each caller
	from := func(addr string) (func(), int) {
		r := httptest.NewRequest(http.MethodGet, "/history?follow=true", http.NoBody)
		r.RemoteAddr = addr
		end, err := c.begin(r)
		if f, ok := errors.AsType[fault](err); ok {
			return nil, f.status
		}
		return end, http.StatusOK
	}
	var ends []func()
	for _, test := range []struct {
		addr string
		want int
	}{
		{"10.0.0.1:1000", 200},
		{"10.0.0.1:1001", 200},
		{"10.0.0.1:1002", 429},
		{"[fd00::1]:1000", 200},
		{"[fd00::1]:1001", 200},
		{"[fd00::1]:1002", 429},
		{"10.0.0.2:1000", 200},
		{"10.0.0.2:1001", 200},
		{"10.0.0.3:1000", 200},
		{"10.0.0.3:1001", 200},
		{"10.0.0.4:1000", 503},
		{"10.0.0.1:1003", 429},
	} {
		end, status := from(test.addr)
		if status != test.want {
			t.Errorf("%s: got %d, want %d", test.addr, status, test.want)
		}
		if end != nil {
			ends = append(ends, end)
		}
	}
	ends[0]()
	if _, status := from("10.0.0.1:1004"); status != http.StatusOK {
		t.Errorf("after the end of one: %d", status)
	}
	for _, end := range ends[1:] {
		end()
	}
	if all, callers := c.places.Taken(); all != 1 || callers != 1 {
		t.Errorf("one is left, and %d are counted, of %d", all, callers)
	}
}
