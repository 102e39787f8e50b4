package natsmsg_test

import (
	"bufio"
	"context"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/natsmsg"
)

// greeting is what a server says first.
const greeting = `INFO {"server_id":"x","version":"2.12.0","proto":1,"headers":true,"max_payload":1048576,"jetstream":true%s}` + "\r\n"

// hostile lets a server's connection shake hands as a right one does, and then send what follows the answer to PING.
func hostile(conn io.ReadWriter, follow string) {
	in := bufio.NewReader(conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if strings.HasPrefix(line, "PING") {
			if _, err := io.WriteString(conn, "PONG\r\n"); err != nil {
				return
			}
			continue
		}
		if strings.HasPrefix(line, "PUB") || strings.HasPrefix(line, "HPUB") {
			break
		}
	}
	for part := range strings.SplitSeq(follow, "|") { // each in a write of its own
		for {
			if _, err := io.WriteString(conn, part); err != nil {
				return
			}
			if !strings.HasPrefix(part, "endless") && !strings.HasPrefix(part, "MSG endless") {
				break
			}
			part = strings.Repeat("endless", 4096)
		}
	}
	_, _ = io.Copy(io.Discard, in)
}

// bombs are what hostile servers send. The client would make room for what messages say that they have, or keep lines for
// ever; in a goroutine of its own, where a panic ends the process.
var bombs = map[string]string{
	"MSG":                "MSG a 1 9223372036854775000\r\nx",
	"HMSG":               "HMSG a 1 12 9223372036854775000\r\nNATS/1.0\r\n\r\n",
	"lower case":         "msg a 1 1000000000000000\r\nx",
	"tabs":               "MSG\ta\t1\t1000000000000000\r\nx",
	"headers":            "HMSG a 1 65537 65540\r\nx",
	"no size of headers": "HMSG 65540\r\nx",
	"in parts":           "MS|G a| 1 10000000|000000000|\r|\n|x",
	"more than 64 bits":  "MSG a 1 18446744073709551617\r\nx",
	"negative":           "MSG a 1 -5\r\nx",
	"a break inside":     "MSG a 1 1000000000000000\r6\nxxxxxx\r\n",
	"behind a payload":   "MSG a 1 2\r\nxx\r\nMSG a 1 1000000000000000\r\nx",
	"behind no payload":  "MSG a 1 0\r\n\r\nMSG a 1 1000000000000000\r\nx",
	"behind junk":        "MSG a 1 2\r\nxxjunk junk\r\nMSG a 1 1000000000000000\r\nx",
	"behind one newline": "MSG a 1 0\r\n\n\nMSG a 1 1000000000000000\r\nx",
	"just too much":      "MSG a 1 8388609\r\nx",
	"endless line":       "MSG endless",
	"endless error":      "-ERR '|endless",
}

// TestHostileServers has servers of jobs that send such things, over each kind of connection.
func TestHostileServers(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(web.Close)
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	c := client(t, natsmsg.Config{RootCAs: roots})
	secure := func(conn net.Conn) net.Conn {
		return tls.Server(conn, &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12})
	}
	for name, bomb := range bombs {
		socket := func(w http.ResponseWriter, r *http.Request) {
			ws, err := websocket.Accept(w, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer ws.CloseNow() //nolint:errcheck // the client may have gone
			conn := websocket.NetConn(context.WithoutCancel(r.Context()), ws, websocket.MessageBinary)
			_, _ = fmt.Fprintf(conn, greeting, "")
			hostile(conn, bomb)
		}
		plain, covered := httptest.NewServer(http.HandlerFunc(socket)), httptest.NewUnstartedServer(http.HandlerFunc(socket))
		covered.TLS = &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12}
		covered.StartTLS()
		servers := map[string]string{
			"nats": "nats://" + actiontest.Listen(t, func(conn net.Conn) {
				_, _ = fmt.Fprintf(conn, greeting, "")
				hostile(conn, bomb)
			}),
			"tls": "tls://" + actiontest.Listen(t, func(conn net.Conn) {
				_, _ = fmt.Fprintf(conn, greeting, `,"tls_available":true`)
				hostile(secure(conn), bomb)
			}),
			"tls required": "nats://" + actiontest.Listen(t, func(conn net.Conn) {
				_, _ = fmt.Fprintf(conn, greeting, `,"tls_required":true`)
				hostile(secure(conn), bomb)
			}),
			"ws":  strings.Replace(plain.URL, "http", "ws", 1),
			"wss": strings.Replace(covered.URL, "http", "ws", 1),
		}
		for kind, url := range servers {
			t.Run(kind+" "+name, func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				a := attempt()
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				got := invokeIn(ctx, t, c, a, `{"subject": "x", "mode": "request", "message": "m", "servers": "`+url+`"}`)
				runtime.ReadMemStats(&after)
				if !got.Failed || !strings.Contains(got.Message, "the server sends a ") {
					t.Errorf("got %+v", got)
				}
				if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
					t.Errorf("%d MiB were taken", n>>20)
				}
			})
		}
		plain.Close()
		covered.Close()
	}
}

// TestHostileGreetings has servers whose first line is wrong.
func TestHostileGreetings(t *testing.T) {
	c := client(t, natsmsg.Config{})
	for name, test := range map[string]struct{ first, want string }{
		"endless":  {"INFO {|endless", "the server sends a line of more than 65536 bytes"},
		"not INFO": {"SSH-2.0-OpenSSH_9.2\r\n", ""},
		"empty":    {"\n", ""},
		"no JSON":  {"INFO {{{\r\n", ""},
	} {
		address := actiontest.Listen(t, func(conn net.Conn) {
			for part := range strings.SplitSeq(test.first, "|") {
				for {
					if _, err := io.WriteString(conn, part); err != nil || part != "endless" {
						break
					}
				}
			}
			_, _ = io.Copy(io.Discard, conn)
		})
		got := invoke(t, c, attempt(), `{"subject": "x", "servers": "nats://`+address+`"}`)
		if !got.Failed || !strings.Contains(got.Message, test.want) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// TestStalledWebSocket has a server that announces a frame of a gigabyte, and sends none of it. The attempt and the
// client end nevertheless.
func TestStalledWebSocket(t *testing.T) {
	const frame = "\x81\x7f\x00\x00\x00\x00\x40\x00\x00\x00"
	for name, first := range map[string]string{"instead of INFO": "", "after INFO": "\x82\x7e\x00\x70" + fmt.Sprintf("%-112s", fmt.Sprintf(greeting, ""))} {
		t.Run(name, func(t *testing.T) {
			c := client(t, natsmsg.Config{})
			address := actiontest.Listen(t, func(conn net.Conn) {
				r, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // RFC 6455, section 1.3
				_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n%s%s",
					base64.StdEncoding.EncodeToString(sum[:]), first, frame)
				_, _ = io.Copy(io.Discard, conn)
			})
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if got := invokeIn(ctx, t, c, attempt(), `{"subject": "x", "message": "m", "servers": "ws://`+address+`"}`); !strings.Contains(got.Message, "a frame of more than") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestWebSockets publishes over web sockets, in plain and with TLS.
func TestWebSockets(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(web.Close)
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	c := client(t, natsmsg.Config{RootCAs: roots})
	for _, secured := range map[string]*tls.Config{
		"ws": nil, "wss": {Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12},
	} {
		s := run(t, func(o *server.Options) {
			o.Websocket = server.WebsocketOpts{Host: "127.0.0.1", Port: -1, NoTLS: secured == nil, TLSConfig: secured}
		})
		url := s.WebsocketURL()
		got := invoke(t, c, attempt(), `{"subject": "x", "message": "m", "servers": "`+url+`"}`)
		check(t, got, outcome{status: 202})
	}
}
