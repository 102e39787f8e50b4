package echo_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/echo"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func call(ctx context.Context, method, url, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	r.Header.Set("Idempotency-Key", "default/a@2030-01-01T00:00:00Z")
	echo.Handler().ServeHTTP(w, r)
	return w
}

func TestEcho(t *testing.T) {
	tests := []struct {
		url  string
		code int
	}{
		{"/echo", 200},
		{"/echo?a=b", 200},
		{"/echo/hello/there", 200},
		{"/echo/status/503", 503},
		{"/echo/status/204", 204},
		{"/echo/status/99", 400},
		{"/echo/status/x", 400},
		{"/echo/delay/0s", 200},
		{"/echo/delay/x", 400},
		{"/echo/delay/-1s", 400},
	}
	for _, test := range tests {
		w := call(t.Context(), http.MethodPost, test.url, "hello")
		if w.Code != test.code {
			t.Errorf("%s: got %d, want %d", test.url, w.Code, test.code)
		}
		if w.Code != 200 && w.Code != 503 {
			continue
		}
		var e echo.Echo
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
			t.Errorf("%s: %v in %s", test.url, err, w.Body)
		}
		path, query, _ := strings.Cut(test.url, "?")
		if e.Method != http.MethodPost || e.Path != path || e.Query != query || e.Body != "hello" || e.Headers["Idempotency-Key"] == "" {
			t.Errorf("%s: got %+v", test.url, e)
		}
	}
}

func TestBodyThatIsNotText(t *testing.T) {
	var e echo.Echo
	must.Do(t, json.Unmarshal(call(t.Context(), http.MethodPut, "/echo", "\xff\x00").Body.Bytes(), &e))
	if string(e.BodyBytes) != "\xff\x00" || e.Body != "" {
		t.Errorf("got %+v", e)
	}
}

func TestDelay(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		start := time.Now()
		if w := call(t.Context(), http.MethodGet, "/echo/delay/2s", ""); w.Code != 200 || time.Since(start) != 2*time.Second {
			t.Errorf("got %d after %s", w.Code, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if w := call(ctx, http.MethodGet, "/echo/delay/1h", ""); w.Body.Len() != 0 || time.Since(start) != 3*time.Second {
			t.Errorf("a caller that has gone was answered %s after %s", w.Body, time.Since(start))
		}
	})
}

// TestDelaysAreBounded shows that callers without a token cannot take all connections of a server with delayed answers.
func TestDelaysAreBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := echo.Handler()
		ask := func(ctx context.Context, path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody))
			return w
		}
		ctx, leave := context.WithCancel(t.Context())
		for range 64 {
			go ask(ctx, "/echo/delay/1h")
		}
		synctest.Wait()
		w := ask(t.Context(), "/echo/delay/1s")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
			t.Errorf("got %d %s, Retry-After %q", w.Code, w.Body, w.Header().Get("Retry-After"))
		}
		if w := ask(t.Context(), "/echo"); w.Code != http.StatusOK {
			t.Errorf("what is not delayed: got %d", w.Code)
		}
		leave()
		synctest.Wait()
		if w := ask(t.Context(), "/echo/delay/1s"); w.Code != http.StatusOK {
			t.Errorf("when they have gone: got %d %s", w.Code, w.Body)
		}
	})
}

func TestToken(t *testing.T) {
	form := func(url, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		echo.Handler().ServeHTTP(w, r)
		return w
	}
	seen := map[string]bool{}
	for _, url := range []string{"/echo/token", "/echo/token/contoso.com/oauth2/token"} {
		w := form(url, "grant_type=client_credentials&client_id=me&client_secret=any")
		var answer struct {
			AccessToken string `json:"access_token"`
			TokenType   string `json:"token_type"`
			ExpiresIn   int    `json:"expires_in"`
		}
		err := json.Unmarshal(w.Body.Bytes(), &answer)
		if err != nil || w.Code != 200 || answer.TokenType != "Bearer" || answer.ExpiresIn != 3600 || seen[answer.AccessToken] {
			t.Errorf("%s: got %d %s, %v", url, w.Code, w.Body, err)
		}
		seen[answer.AccessToken] = true
	}
	for _, body := range []string{"", "grant_type=password&client_id=me", "grant_type=client_credentials"} {
		if w := form("/echo/token", body); w.Code != 400 || !strings.Contains(w.Body.String(), `"error":"invalid_request"`) {
			t.Errorf("%q: got %d %s", body, w.Code, w.Body)
		}
	}
}
