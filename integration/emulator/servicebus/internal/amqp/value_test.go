package amqp_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

var values = []any{
	nil, true, false, uint8(7), uint16(700), uint32(0), uint32(255), uint32(256), uint64(0), uint64(255), uint64(1 << 40),
	int8(-3), int16(-300), int32(-128), int32(-129), int32(127), int32(128), int64(-128), int64(1 << 40), float32(1.5), 2.5,
	amqp.Char('ü'), amqp.Decimal("1234"), amqp.Decimal("12345678"), amqp.Decimal("1234567812345678"),
	time.UnixMilli(1_700_000_000_123).UTC(), time.UnixMilli(-1).UTC(),
	amqp.UUID{1, 2, 3},
	[]byte{},
	[]byte("bytes"),
	bytes.Repeat([]byte("b"), 256), "", "text", strings.Repeat("s", 300), amqp.Symbol("symbol"), amqp.Symbol(strings.Repeat("y", 256)),
	amqp.List{},
	amqp.List{nil, uint32(1), "two", amqp.List{true}},
	amqp.List{strings.Repeat("s", 252)},
	amqp.List{strings.Repeat("s", 253)},
	amqp.List{strings.Repeat("s", 254)},
	amqp.Map{},
	amqp.Map{{amqp.Symbol("a"), "b"}, {"c", amqp.Map{{int32(1), nil}}}},
	amqp.Array{},
	amqp.Array{nil, nil},
	amqp.Array{true, false},
	amqp.Array{uint8(1), uint8(2)},
	amqp.Array{uint32(0), uint32(1 << 30)},
	amqp.Array{uint64(0), uint64(1 << 40)},
	amqp.Array{int32(1), int32(math.MinInt32)},
	amqp.Array{int64(1), int64(math.MinInt64)},
	amqp.Array{"", strings.Repeat("s", 300)},
	amqp.Array{amqp.Symbol("a"), amqp.Symbol("b")},
	amqp.Array{[]byte{1}, []byte{}},
	amqp.Array{amqp.UUID{1}, amqp.UUID{2}},
	amqp.Array{time.UnixMilli(1).UTC()},
	amqp.Array{1.5},
	amqp.Array{amqp.List{"a"}, amqp.List{}},
	amqp.Array{amqp.Map{{"a", "b"}}, amqp.Map{}},
	amqp.Array{amqp.Array{int64(1)}, amqp.Array{}},
	amqp.Array{amqp.Array{amqp.Described{"d", int64(1)}}},
	amqp.Array{amqp.Described{uint64(9), "x"}, amqp.Described{uint64(9), "y"}},
	amqp.Described{amqp.Symbol("com.microsoft:session-filter"), nil},
	amqp.Described{uint64(0x137000000C), "session"},
}

// TestValues shows that a value survives its encoding, alone and within others.
func TestValues(t *testing.T) {
	for _, value := range values {
		for _, want := range []any{value, amqp.List{"before", value, "after"}, amqp.Described{uint64(1), value}} {
			encoded := amqp.Append([]byte("front"), want)
			got, rest, err := amqp.Unmarshal(append(encoded[5:], "rest"...))
			if err != nil || string(rest) != "rest" {
				t.Errorf("%#v: rest %q, error %v", want, rest, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%#v: want -, got +\n%s", want, diff)
			}
		}
	}
}

// TestCut shows that no value can be decoded from less than its encoding.
func TestCut(t *testing.T) {
	for _, value := range values {
		encoded := amqp.Append(nil, value)
		for n := range encoded {
			if got, _, err := amqp.Unmarshal(encoded[:n]); !errors.Is(err, amqp.ErrMalformed) {
				t.Errorf("%#v cut to %d bytes: got %#v, %v", value, n, got, err)
			}
		}
	}
}

// TestHostile shows that sizes, counts and nesting that the input does not pay for are refused.
func TestHostile(t *testing.T) {
	deep := make([]byte, 10_000)
	tests := map[string][]byte{
		"unknown code":               {0x4f},
		"unknown wide code":          {0xcf, 0x01, 0x00},
		"nested descriptors":         deep,
		"nested lists":               nest(40),
		"a list of a billion":        {0xd0, 0, 0, 0, 5, 0x3f, 0xff, 0xff, 0xff, 0x40},
		"an array of a billion null": {0xf0, 0, 0, 0, 5, 0x3f, 0xff, 0xff, 0xff, 0x40},
		"a negative size":            {0xb0, 0xff, 0xff, 0xff, 0xff},
		"a map of three":             {0xc1, 4, 3, 0x40, 0x40, 0x40},
		"bytes after a list":         {0xc0, 3, 1, 0x40, 0x40},
		"described in an array":      {0xe0, 5, 1, 0x00, 0x40, 0x00, 0x40},
	}
	for name, input := range tests {
		if got, _, err := amqp.Unmarshal(input); !errors.Is(err, amqp.ErrMalformed) {
			t.Errorf("%s: got %#v, %v", name, got, err)
		}
	}
	if _, _, err := amqp.Unmarshal(nest(amqp.MaxDepth - 1)); err != nil {
		t.Error("nesting within the bound:", err)
	}
}

// nest returns lists within lists.
func nest(depth int) []byte {
	list := amqp.List{}
	for range depth {
		list = amqp.List{list}
	}
	return amqp.Append(nil, list)
}

func FuzzUnmarshal(f *testing.F) {
	for _, value := range values {
		f.Add(amqp.Append(nil, value))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		value, rest, err := amqp.Unmarshal(input)
		if err != nil {
			return
		}
		if len(rest) > len(input) {
			t.Fatal("more is left than there was")
		}
		again, _, err := amqp.Unmarshal(amqp.Append(nil, value))
		if err != nil {
			t.Fatalf("%#v: %v", value, err)
		}
		if first, second := amqp.Append(nil, value), amqp.Append(nil, again); !bytes.Equal(first, second) {
			t.Fatalf("%x became %x", first, second)
		}
	})
}

func TestMap(t *testing.T) {
	m := amqp.Map{{amqp.Symbol("a"), 1}, {"b", 2}, {int32(3), 3}}
	if m.Get("a") != 1 || m.Get("b") != 2 || m.Get("c") != nil || !m.Has("b") || m.Has("c") {
		t.Error("a key is not found, or one found that is not there")
	}
	m = m.With(amqp.Symbol("b"), 4).With(amqp.Symbol("c"), 5)
	if diff := cmp.Diff(amqp.Map{{amqp.Symbol("a"), 1}, {"b", 4}, {int32(3), 3}, {amqp.Symbol("c"), 5}}, m); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(amqp.Map{{amqp.Symbol("a"), 1}, {int32(3), 3}, {amqp.Symbol("c"), 5}}, m.Without("b")); diff != "" {
		t.Error(diff)
	}
}

func TestUUID(t *testing.T) {
	token := amqp.UUID{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	if got := token.String(); got != "00112233-4455-6677-8899-aabbccddeeff" {
		t.Error(got)
	}
	if got := token.Tag(); !bytes.Equal(got[:8], []byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66}) {
		t.Errorf("%x", got)
	}
	if again := amqp.UUID(token.Tag()).Tag(); !bytes.Equal(again, token[:]) {
		t.Errorf("%x", again)
	}
}
