package client

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestGreeted gives the error of net/http for a server that speaks before the request is written, which is a matter of
// luck on a connection, and asks what is there.
func TestGreeted(t *testing.T) {
	for says, want := range map[string]error{`INFO {"server_id":"A"}` + "\r\n": errNATS, "220 mail\r\n": errNotHTTP} {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			if conn, err := l.Accept(); err == nil {
				_, _ = conn.Write([]byte(says)) // read or not
				_ = conn.Close()
			}
		}()
		got := unreachable(t.Context(), "http://"+l.Addr().String(), errors.New(spokeFirst))
		if !errors.Is(got, want) || strings.Contains(got.Error(), "Peek") {
			t.Errorf("%q: got %v", says, got)
		}
	}
}
