package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/web"
)

// TestSlowBody has a host whose body comes byte by byte and never ends.
func TestSlowBody(t *testing.T) {
	gone := make(chan struct{})
	server := listen(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(gone)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := w.Write([]byte("x")); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
		}
	})
	at := attempt()
	at.Timeout = 50 * time.Millisecond
	result := actiontest.Invoke(t.Context(), mustRead(t, newClient(t, web.Config{}), "Http", uri(server.URL)), at)
	if !result.Failed || result.Final || result.Status != 200 || !strings.Contains(result.Message, " bytes: timed out after 50ms)") {
		t.Errorf("got %+v", result)
	}
	<-gone
}

// TestSlowHeader has a host that sends its header byte by byte and never ends.
func TestSlowHeader(t *testing.T) {
	gone := make(chan struct{})
	host := actiontest.Listen(t, func(conn net.Conn) {
		defer close(gone)
		_ = readRequest(conn)
		_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nSlow: ")
		for ; err == nil; time.Sleep(time.Millisecond) {
			_, err = io.WriteString(conn, "x")
		}
	})
	at := attempt()
	at.Timeout = 50 * time.Millisecond
	wantFailure(t, actiontest.Invoke(t.Context(), mustRead(t, newClient(t, web.Config{}), "Http", uri("http://"+host)), at), host, "timed out after 50ms")
	<-gone
}

// TestCompressedBomb has hosts whose answers are small, and huge when they are unpacked: they are not.
func TestCompressedBomb(t *testing.T) {
	var bomb bytes.Buffer
	z, err := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	chunk := bytes.Repeat([]byte("bomb"), 256<<10)
	for range 32 { // MiB
		if _, err := z.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	server := listen(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		if r.URL.Path == "/elsewhere" {
			w.Header().Set("Location", "/")
			w.WriteHeader(http.StatusFound)
		}
		_, _ = w.Write(bomb.Bytes())
	})
	client := newClient(t, web.Config{})
	for _, request := range []string{
		uri(server.URL), uri(server.URL + "/elsewhere"),
		fmt.Sprintf(`{"uri":%q,"method":"GET","headers":{"Accept-Encoding":"gzip, deflate, br"}}`, server.URL),
		fmt.Sprintf(`{"uri":%q,"method":"GET","success":{"bodyContains":"bombbomb"}}`, server.URL),
		fmt.Sprintf(`{"uri":"http://h/","method":"GET","authentication":{"type":"OAuth2","tokenUrl":%q,"clientId":"c","secret":"s3cret"}}`, server.URL),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result := invoke(t, client, request)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
			t.Errorf("%s: %d MiB were taken", request, n>>20)
		}
		if strings.Contains(result.Response, "bombbomb") || result.Failed != (strings.Contains(request, "s3cret") || strings.Contains(request, "bombbomb")) {
			t.Errorf("%s: %d bytes: %.100q", request, len(result.Message), result.Message)
		}
	}
}

// TestEndlessInformation has a host that answers with interim answers for ever (RFC 9110, section 15.2).
func TestEndlessInformation(t *testing.T) {
	host := actiontest.Listen(t, func(conn net.Conn) {
		_ = readRequest(conn)
		for {
			if _, err := io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"); err != nil {
				return
			}
		}
	})
	at := attempt()
	at.Timeout = 10 * time.Second
	result := actiontest.Invoke(t.Context(), mustRead(t, newClient(t, web.Config{}), "Http", uri("http://"+host)), at)
	if !result.Failed || strings.Contains(result.Message, "timed out") {
		t.Errorf("got %+v", result)
	}
}

// TestLineBreaksInHeaders gives headers, plain, secret and shared, that would end a header and begin another.
func TestLineBreaksInHeaders(t *testing.T) {
	server := listen(t, nil)
	client := newClient(t, web.Config{})
	for _, value := range []string{"a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\rX-Evil: 1", "a\x00b", "\r\n\r\nGET / HTTP/1.1\r\n", "a\x7f", "a\vb"} {
		quoted, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"X-Plain", "X-Api-Key", "Host", "Cookie", "User-Agent", "Traceparent"} {
			if _, err := read(t, client, fmt.Sprintf(`{"uri":%q,"method":"GET","headers":{%q:%s}}`, server.URL, name, quoted)); err == nil {
				t.Errorf("%s: %q was taken", name, value)
			}
		}
		action := mustRead(t, client, "Http", fmt.Sprintf(`{"uri":%q,"method":"GET","headers":{"X-Shared":{"secretRef":"s"}}}`, server.URL))
		at := attempt()
		at.Shared = func(string) (string, error) { return value, nil }
		if result := action.Invoke(t.Context(), at); !result.Failed || strings.Contains(result.Message, "X-Evil") {
			t.Errorf("shared %q: %+v", value, result)
		}
	}
	for _, name := range []string{
		"Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length", "Expect",
		"connection", "TRANSFER-ENCODING",
	} {
		if _, err := read(t, client, fmt.Sprintf(`{"uri":%q,"method":"GET","headers":{%q:"x"}}`, server.URL, name)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if n := len(server.seen()); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}
