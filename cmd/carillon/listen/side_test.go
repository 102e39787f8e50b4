package listen

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestServe serves on an address of its own to who calls it by its name, until it is closed.
func TestServe(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	none, err := Serve(t.Context(), Flag{"metrics", ""}, "/metrics", hello, log)
	if err != nil || none.URL() != "" {
		t.Errorf("without an address: %q, %v", none.URL(), err)
	}
	none.Close()
	s := must.Get(Serve(t.Context(), Flag{"metrics", "127.0.0.1:0"}, "/metrics", hello, log))(t)
	t.Cleanup(s.Close)
	for host, want := range map[string]string{"": "200 hello", "localhost": "200 hello", "evil.example": "421 not the name of this machine\n"} {
		if got := ask(t, s.URL(), host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
	addr := strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/metrics")
	if _, err := Serve(t.Context(), Flag{"metrics", addr}, "", hello, log); err == nil || !strings.Contains(err.Error(), "metrics address "+addr) {
		t.Errorf("the same address again: %v", err)
	}
	s.Close()
	if got := ask(t, s.URL(), ""); got != "" {
		t.Errorf("closed: %q", got)
	}
}

// ask returns status and body; "" when nobody answers.
func ask(t *testing.T, url, host string) string {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody))(t)
	req.Host = host
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	body := must.Get(io.ReadAll(res.Body))(t)
	return res.Status[:4] + string(body)
}
