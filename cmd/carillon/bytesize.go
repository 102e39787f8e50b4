package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a flag's number of bytes: 160MiB, 200MB or 200000000.
type byteSize int64

// byteUnits are what a byteSize may end with.
var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
}

// UnmarshalText reads a flag's value.
func (b *byteSize) UnmarshalText(text []byte) error {
	number, unit := string(text), 0.0
	for _, u := range byteUnits {
		if n, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n*unit > 1<<50 {
		return fmt.Errorf("%q is not a size such as 160MiB, 200MB or 200000000", text)
	}
	*b = byteSize(n * unit)
	return nil
}

// String writes the size as UnmarshalText reads it.
func (b byteSize) String() string {
	for _, u := range []struct {
		shift  int
		suffix string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if b != 0 && b%(1<<u.shift) == 0 {
			return strconv.FormatInt(int64(b)>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// orNone is the size as a setting has it whose zero value is its default: 0 is none.
func (b byteSize) orNone() int64 {
	if b == 0 {
		return -1
	}
	return int64(b)
}

// leastHold is the smallest --hold-memory: room for a thousand jobs or so, so that
// more than one batch of them can be under way.
const leastHold = 8 << 20
