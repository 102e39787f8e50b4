package spelling_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/internal/spelling"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// one is a listener of one connection.
type one struct{ conn net.Conn }

func (l one) Accept() (net.Conn, error) { return l.conn, nil }
func (one) Close() error                { return nil }
func (one) Addr() net.Addr              { return nil }

// after returns the context of a connection over which a client has sent a text, in pieces of a size.
func after(t *testing.T, prefix, text string, size int) context.Context {
	t.Helper()
	client, server := net.Pipe()
	socket := must.Get(spelling.Listener{Listener: one{server}, Prefix: prefix}.Accept())(t)
	ctx := spelling.ConnContext(t.Context(), socket)
	go func() {
		defer client.Close()
		for text != "" {
			n := min(size, len(text))
			_, _ = io.WriteString(client, text[:n])
			text = text[n:]
		}
	}()
	must.Get(io.Copy(io.Discard, bufio.NewReaderSize(socket, 16)))(t)
	return ctx
}

func TestNamesAsTheyWereSent(t *testing.T) {
	long := strings.Repeat("x", 1000)
	const head = "POST /q/messages HTTP/1.1\r\nHost: h\r\norderId: 5\r\nX-MS-Meta-camelCase: a:b\r\n" + "\r\n"
	for _, test := range []struct{ name, text, header, want string }{
		{"a head", head, "Orderid", "orderId"},
		{"in any case", head, "ORDERID", "orderId"},
		{"unknown", head, "Other", "Other"},
		{"the value is none", head, "A", "A"},
		{"a body is none", head + "ORDERID: 6\r\norderID: 7\n", "Orderid", "orderId"},
		{"the next request", head + "body without an end" + strings.Replace(head, "orderId", "OrderID", 1), "Orderid", "OrderID"},
		{"a long line before", "POST /" + long + " HTTP/1.1\r\n" + long + long + ": a\r\norderId: 5\r\n\r\n", "Orderid", "orderId"},
		{"line ends alone", "POST / HTTP/1.0\norderId: 5\n\nORDERID: 6\n", "Orderid", "orderId"},
		{"no head", "orderId: 5\r\n\r\n", "Orderid", "Orderid"},
	} {
		for _, size := range []int{1, 3, 1 << 20} {
			if got := spelling.Of(after(t, "", test.text, size), test.header); got != test.want {
				t.Errorf("%s, in pieces of %d: %q, want %q", test.name, size, got, test.want)
			}
		}
	}
	ctx := after(t, "x-ms-meta-", head, 7)
	if got := spelling.Of(ctx, "x-ms-meta-camelcase"); got != "X-MS-Meta-camelCase" {
		t.Error(got)
	}
	if got := spelling.Of(ctx, "Orderid"); got != "Orderid" {
		t.Errorf("%s does not begin with the prefix", got)
	}
	if got := spelling.Of(t.Context(), "Orderid"); got != "Orderid" {
		t.Error(got)
	}
}

// TestMemoryOfNames shows that a client cannot fill the memory with names.
func TestMemoryOfNames(t *testing.T) {
	var text strings.Builder
	text.WriteString("GET / HTTP/1.1\r\n")
	for i := range 1000 {
		text.WriteString(strings.Repeat("n", 1+i%500) + http.CanonicalHeaderKey("x") + strings.Repeat("y", i/500) + ": v\r\n")
	}
	text.WriteString("lastName: v\r\n\r\n")
	if got := spelling.Of(after(t, "", text.String(), 100), "Lastname"); got != "lastName" {
		t.Error(got)
	}
}
