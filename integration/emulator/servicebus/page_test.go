package servicebus_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestPages lets pages of the web send what browsers ask no leave for: changes, a connection over WebSocket, and anything
// under a name that leads here.
func TestPages(t *testing.T) {
	server := start(t, servicebus.Config{AutoCreate: true, AllowHost: func(host string) bool { return !strings.Contains(host, "evil") }})
	const socket = "GET /$servicebus/websocket"
	upgrade := []string{
		"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
		"Sec-WebSocket-Protocol: AMQPWSB10",
	}
	send := func(request string, headers ...string) int {
		method, path, _ := strings.Cut(request, " ")
		r := must.Get(http.NewRequestWithContext(t.Context(), method, "http://"+server.HTTPAddr()+path, http.NoBody))(t)
		if request == socket {
			headers = append(headers, upgrade...)
		}
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			r.Header.Set(name, value)
		}
		r.Host = r.Header.Get("Host")
		transport := &http.Transport{DisableKeepAlives: true}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	for _, test := range []struct {
		request string
		headers []string
		want    int
	}{
		{socket, nil, 101},
		{socket, []string{"Origin: http://" + server.HTTPAddr()}, 101},
		{socket, []string{"Origin: http://localhost:3000"}, 101},
		{socket, []string{"Origin: https://evil.example"}, 403},
		{socket, []string{"Origin: null"}, 403},
		{socket, []string{"Host: evil.example", "Origin: http://evil.example"}, 421},
		{"POST /api/disconnect", nil, 200},
		{"POST /api/disconnect", []string{"Origin: https://evil.example"}, 403},
		{"POST /orders/messages", []string{"Origin: https://evil.example"}, 403},
		{"DELETE /orders/messages/head", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"PUT /orders?api-version=2021-05", []string{"Origin: https://evil.example"}, 403},
		{"GET /api/entities", []string{"Host: evil.example:5300"}, 421},
		{"GET /health", []string{"Host: evil.example"}, 421},
		{"GET /health", []string{"Host: servicebus:5300"}, 200},
	} {
		if got := send(test.request, test.headers...); got != test.want {
			t.Errorf("%s of %q: got %d, want %d", test.request, test.headers, got, test.want)
		}
	}
}
