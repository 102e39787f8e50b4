package web_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
)

// answer returns a client whose every request is answered with the given
// status, header and body.
func answer(status int, header http.Header, body string) *web.Client {
	return web.New(web.Config{Transport: tripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body))}, nil
	})})
}

func TestMessage(t *testing.T) {
	header := http.Header{"Vary": {"Accept", "Cookie"}, "Content-Type": {"text/html"}}
	for name, test := range map[string]struct {
		status        int
		success, body string
		failed, final bool
		want          string // between host and headers
	}{
		"success":              {200, `{}`, "Hi", false, false, ": 'OK'"},
		"accepted":             {202, `{}`, "", false, false, ": 'Accepted'"},
		"moved":                {301, `{}`, "", true, false, ": 'Moved Permanently'"},
		"not found":            {404, `{}`, "", true, true, ": 'Not Found'"},
		"failure":              {500, `{}`, "Hi", true, false, ": 'Internal Server Error'"},
		"unknown status":       {599, `{}`, "", true, false, ": '599'"},
		"beyond all":           {999, `{}`, "", true, false, ": '999'"},
		"own success":          {404, `{"status":["404"]}`, "", false, false, ": 'Not Found'"},
		"own success, no text": {404, `{"status":["404"],"bodyContains":"x"}`, "", true, false, `: 'Not Found' (the body does not contain "x")`},
		"own failure":          {200, `{"status":["201","204-206"]}`, "", true, false, ": 'OK' (200 is not among the statuses of success)"},
		"own failure, 4xx":     {404, `{"status":["201"]}`, "", true, true, ": 'Not Found' (404 is not among the statuses of success)"},
		"contains":             {200, `{"bodyContains":"i"}`, "Hi", false, false, ": 'OK'"},
		"contains not":         {200, `{"bodyContains":"done"}`, "Hi", true, false, `: 'OK' (the body does not contain "done")`},
		"contains, no body":    {204, `{"bodyContains":"done"}`, "", true, false, `: 'No Content' (the body does not contain "done")`},
		"contains, failures":   {503, `{"bodyContains":"done"}`, "done", true, false, ": 'Service Unavailable'"},
	} {
		t.Run(name, func(t *testing.T) {
			result := invoke(t, answer(test.status, header, test.body), `{"uri":"http://www.bing.com/x?y","method":"GET","success":`+test.success+`}`)
			want := "Http Action - Response from host 'www.bing.com'" + test.want +
				" Response Headers: Content-Type: text/html\r\nVary: Accept\r\nVary: Cookie\r\n Body: " + test.body
			if result.Message != want {
				t.Errorf("got  %q\nwant %q", result.Message, want)
			}
			const headers = "Content-Type: text/html\r\nVary: Accept\r\nVary: Cookie\r\n"
			summary := strings.Replace(strings.TrimPrefix(test.want, ": '"), "'", "", 1)
			if result.Summary != summary || result.Headers != headers {
				t.Errorf("got %q, %q, want %q", result.Summary, result.Headers, summary)
			}
			r := scheduler.Record{Message: result.Message, Headers: result.Headers, Response: result.Response}
			if stored, err := r.Encode(); err != nil || strings.Count(string(stored), "text/html") != 1 {
				t.Errorf("stored as %s, %v: want the headers once", stored, err)
			}
			if result.Failed != test.failed || result.Final != test.final || result.Status != test.status || result.Response != test.body {
				t.Errorf("got %+v", result)
			}
		})
	}
}

// TestExcerpt checks the recorded part of a body: bounded, and valid UTF-8.
func TestExcerpt(t *testing.T) {
	const limit = scheduler.MaxResponse
	fill := strings.Repeat("x", limit-2)
	for name, test := range map[string][2]string{
		"short":        {"abc", "abc"},
		"exact":        {fill + "yz", fill + "yz"},
		"longer":       {fill + "yz!", fill + "yz"},
		"rune at end":  {fill + "é", fill + "é"},
		"rune cut 2":   {fill + "yé", fill + "y"},
		"rune cut 3":   {fill + "€", fill},
		"rune cut 4":   {fill + "𝄞𝄞", fill},
		"invalid":      {"a\xff\xfeb", "a\uFFFDb"},
		"invalid long": {"\xff" + strings.Repeat("x", limit), "\uFFFD" + strings.Repeat("x", limit-3)},
		"truncated":    {"abc\xe2\x82", "abc\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			result := invoke(t, answer(200, nil, test[0]), uri("http://h/"))
			if result.Response != test[1] || !strings.HasSuffix(result.Message, " Body: "+test[1]) {
				t.Errorf("got %d bytes …%q, want %d", len(result.Response), result.Response[max(0, len(result.Response)-8):], len(test[1]))
			}
		})
	}
}

func TestMessageIsBounded(t *testing.T) {
	header := http.Header{"A": {strings.Repeat("é", 5000)}, "B": {"\xff"}}
	result := invoke(t, answer(200, header, strings.Repeat("é", 5000)), uri("http://h/"))
	if n := len(result.Message); n > 2*2048+200 || !utf8.ValidString(result.Message) || !strings.Contains(result.Message, "é…\r\n Body: é") {
		t.Errorf("%d bytes: %s", n, result.Message)
	}
}

// TestBodyContains moves the wanted text over the borders of what is read at
// once.
func TestBodyContains(t *testing.T) {
	const request = `{"uri":"http://h/","method":"GET","success":{"bodyContains":"needle"}}`
	for at := 0; at < 3*8192; at += 509 {
		body := strings.Repeat("n", at) + "needle" + strings.Repeat("e", 100)
		for name, reader := range map[string]io.Reader{"whole": strings.NewReader(body), "halves": &shortReader{[]byte(body)}} {
			client := web.New(web.Config{Transport: tripper(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(reader)}, nil
			})})
			if result := invoke(t, client, request); result.Failed {
				t.Errorf("not found at %d (%s): %.200s", at, name, result.Message)
			}
		}
	}
	result := invoke(t, answer(200, nil, strings.Repeat("x", 1<<20)+"needl"), request)
	if want := `(the body does not contain "needle")`; !result.Failed || !strings.Contains(result.Message, want) {
		t.Errorf("got %.200s", result.Message)
	}
}

// shortReader hands out 4093 bytes at a time.
type shortReader struct{ rest []byte }

func (r *shortReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 4093)], r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// TestNoBody has answers that end with their header.
func TestNoBody(t *testing.T) {
	for _, test := range []struct {
		method string
		status int
		failed bool
	}{{"GET", 204, false}, {"GET", 304, true}, {"HEAD", 200, false}, {"POST", 200, false}} {
		t.Run(fmt.Sprint(test.method, test.status), func(t *testing.T) {
			server := listen(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(test.status) })
			result := invoke(t, newClient(t, web.Config{}), fmt.Sprintf(`{"uri":%q,"method":%q}`, server.URL, test.method))
			if result.Failed != test.failed || result.Status != test.status || result.Response != "" || !strings.HasSuffix(result.Message, " Body: ") {
				t.Errorf("got %+v", result)
			}
		})
	}
}

// TestLongBody checks that a body which is too long or endless is a failed
// attempt, and costs the server its connection.
func TestLongBody(t *testing.T) {
	for length, want := range map[string]string{
		"":              "(the body has more than 16777216 bytes, the limit)",
		"104857600":     "(the body has 104857600 bytes; the limit is 16777216)",
		"1000000000000": "(the body has 1000000000000 bytes; the limit is 16777216)",
	} {
		t.Run(length, func(t *testing.T) {
			gone := make(chan struct{})
			server := listen(t, func(w http.ResponseWriter, r *http.Request) {
				defer close(gone)
				if length != "" {
					w.Header().Set("Content-Length", length)
				}
				chunk := bytes.Repeat([]byte("x"), 32<<10)
				for r.Context().Err() == nil {
					if _, err := w.Write(chunk); err != nil {
						return
					}
				}
			})
			result := invoke(t, newClient(t, web.Config{}), uri(server.URL))
			if !result.Failed || result.Final || len(result.Response) != scheduler.MaxResponse || !strings.Contains(result.Message, want) {
				t.Errorf("got %+v", result)
			}
			<-gone
		})
	}
}

// TestMaxBody checks that no more is read than asked for, and that a
// transport's body is always closed.
func TestMaxBody(t *testing.T) {
	body := &countedBody{Reader: strings.NewReader(strings.Repeat("x", 10_000))}
	client := web.New(web.Config{MaxBody: 5000, Transport: tripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
	})})
	result := invoke(t, client, uri("http://h/"))
	if body.read != 5001 || body.closed != 1 {
		t.Errorf("%d bytes read, closed %d times; want 5001 and once", body.read, body.closed)
	}
	if want := "(the body has more than 5000 bytes, the limit)"; !result.Failed || !strings.Contains(result.Message, want) {
		t.Errorf("got %.200s", result.Message)
	}
	body = &countedBody{Reader: strings.NewReader(strings.Repeat("x", 5000))}
	if result := invoke(t, client, uri("http://h/")); result.Failed || body.closed != 1 {
		t.Errorf("as long as may be: got %.200s", result.Message)
	}
}

type countedBody struct {
	io.Reader

	read, closed int
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read += n
	return n, err
}

func (b *countedBody) Close() error {
	b.closed++
	return nil
}

// TestRetryAfter has the answers that may ask to wait: refusals that the job does not take for a success.
func TestRetryAfter(t *testing.T) {
	for _, test := range []struct {
		status  int
		success string
		want    time.Duration
	}{{429, `{}`, 2 * time.Minute}, {503, `{}`, 2 * time.Minute}, {500, `{}`, 0}, {200, `{}`, 0}, {301, `{}`, 0}, {429, `{"status":["429"]}`, 0}} {
		result := invoke(t, answer(test.status, http.Header{"Retry-After": {"120"}}, ""), success(test.success))
		if result.RetryAfter != test.want {
			t.Errorf("%d with success %s: got %v, want %v", test.status, test.success, result.RetryAfter, test.want)
		}
	}
}

// wantFailure checks the result of an attempt without an answer.
func wantFailure(t *testing.T, result scheduler.Result, host, reason string) {
	t.Helper()
	want := "Http Action - Request to host '" + host + "' failed: " + reason
	if !result.Failed || result.Final || result.Status != 0 || result.Response != "" || result.Message != want {
		t.Errorf("got  %+v\nwant %s", result, want)
	}
}

// readRequest reads one request without a body.
func readRequest(conn net.Conn) error {
	var request strings.Builder
	b := make([]byte, 1)
	for !strings.HasSuffix(request.String(), "\r\n\r\n") {
		if _, err := conn.Read(b); err != nil {
			return err
		}
		request.Write(b)
	}
	return nil
}

func TestNotHTTP(t *testing.T) {
	host := actiontest.Listen(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n")
	})
	wantFailure(t, invoke(t, newClient(t, web.Config{}), uri("http://"+host)), host,
		`malformed HTTP status code "mail.example"`)
}

func TestHugeHeader(t *testing.T) {
	host := actiontest.Listen(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nA: "+strings.Repeat("x", 1<<20))
	})
	wantFailure(t, invoke(t, newClient(t, web.Config{}), uri("http://"+host)), host,
		"server response headers exceeded 65536 bytes; aborted")
}

// TestSwitchingProtocols has an answer that hands over the connection, which
// nothing but closing it would end.
func TestSwitchingProtocols(t *testing.T) {
	closed := make(chan struct{})
	host := actiontest.Listen(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
		close(closed)
	})
	result := invoke(t, newClient(t, web.Config{}), uri("http://"+host))
	if !result.Failed || result.Status != 101 {
		t.Errorf("got %+v", result)
	}
	<-closed
}

func TestBodyBreaksOff(t *testing.T) {
	host := actiontest.Listen(t, func(conn net.Conn) {
		_ = readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
	})
	result := invoke(t, newClient(t, web.Config{}), uri("http://"+host))
	want := "': 'OK' (the body broke off after 3 bytes: connection closed by the host) Response Headers: Content-Length: 10\r\n Body: abc"
	if !result.Failed || result.Status != 200 || result.Response != "abc" || !strings.HasSuffix(result.Message, want) {
		t.Errorf("got %+v", result)
	}
}
