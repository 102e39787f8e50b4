package main

import (
	"io"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/engine"
)

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{
		"160MiB": 160 << 20, "1GiB": 1 << 30, "1.5 GiB": 3 << 29, "64KiB": 64 << 10, "200MB": 200e6, "2GB": 2e9, "10kB": 10e3,
		"12B": 12, "200000000": 200e6, "0": 0,
	} {
		var got byteSize
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
		var again byteSize
		if err := again.UnmarshalText([]byte(got.String())); err != nil || again != got {
			t.Errorf("%s is written as %s", text, got)
		}
	}
	for _, text := range []string{"", "MiB", "-1MiB", "many", "NaN", "Inf", "1TiB", "1e30", "5 M", "1,5GiB"} {
		var got byteSize
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for %s", text, got)
		}
	}
}

// TestMemoryDefaults: the defaults of the flags are those of what has the memory.
func TestMemoryDefaults(t *testing.T) {
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	for name, want := range map[string]byteSize{
		"hold-memory": engine.DefaultHoldMemory, "history-memory": control.DefaultHistoryMemory,
	} {
		found := 0
		for _, command := range parser.Model.Children {
			for _, flag := range command.Flags {
				if flag.Name != name || command.Name == "config" {
					continue
				}
				found++
				var b byteSize
				if err := b.UnmarshalText([]byte(flag.Default)); err != nil || b != want {
					t.Errorf("%s --%s is %s by default, %v, want %s", command.Name, name, flag.Default, err, want)
				}
			}
		}
		if found != 2 {
			t.Errorf("%d commands have --%s, want serve and dev", found, name)
		}
	}
}

// TestNoMemory: a size of 0 is none, and not the default of the setting.
func TestNoMemory(t *testing.T) {
	for size, want := range map[byteSize]int64{0: -1, 1: 1, 256 << 20: 256 << 20} {
		if got := size.orNone(); got != want {
			t.Errorf("%s: %d, want %d", size, got, want)
		}
	}
}
