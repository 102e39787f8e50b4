package servicebus_test

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/servicebus"
)

// TestHostileFrames has services that send frames without end, at each stage. The SDK would keep them until they are whole.
func TestHostileFrames(t *testing.T) {
	huge := []byte{0x7f, 0xff, 0xff, 0xff, 2, 0, 0, 0}
	sasl := []byte("AMQP\x03\x01\x00\x00")
	mechanisms := []byte{ // one symbol array with ANONYMOUS and PLAIN
		0, 0, 0, 37, 2, 1, 0, 0, 0, 0x53, 0x40, 0xc0, 24, 1, 0xe0, 21, 2, 0xb3,
		0, 0, 0, 9, 'A', 'N', 'O', 'N', 'Y', 'M', 'O', 'U', 'S',
		0, 0, 0, 5, 'P', 'L', 'A', 'I', 'N',
	}
	mechanisms[3], mechanisms[12], mechanisms[15] = byte(len(mechanisms)), byte(len(mechanisms)-13), byte(len(mechanisms)-16)
	for name, first := range map[string][]byte{
		"at once":         huge,
		"after a header":  append(bytes.Clone(sasl), huge...),
		"after the names": append(append(bytes.Clone(sasl), mechanisms...), huge...),
		"just too much":   append(bytes.Clone(sasl), 0, 0x10, 0, 1, 2, 0, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			address := actiontest.Listen(t, func(conn net.Conn) {
				_, err := io.ReadFull(conn, make([]byte, 8))
				for part := first; err == nil; part = make([]byte, 64<<10) {
					_, err = conn.Write(part)
				}
			})
			action := actiontest.MustRead(t, newClient(t, servicebus.Config{}), "ServiceBusQueue", place("amqp://"+address))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			result := actiontest.Invoke(t.Context(), action, attempt())
			runtime.ReadMemStats(&after)
			if !result.Failed || name != "at once" && !strings.Contains(result.Message, "the service sends a frame of more than 1048576 bytes") {
				t.Errorf("got %+v", result)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%d MiB were taken", n>>20)
			}
		})
	}
}
