package profiles

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestStart checks that profiles are served when they are asked for, to this machine by its names alone, and no longer
// than their server lives.
func TestStart(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	off, err := Start(t.Context(), "", log)
	if err != nil || off != nil || off.URL() != "" {
		t.Fatalf("without an address: %v, %v", off, err)
	}
	off.Close()

	s := must.Get(Start(t.Context(), "localhost:0", log))(t)
	t.Cleanup(s.Close)
	for _, test := range []struct {
		path, host string
		status     int
		want       string
	}{
		{"", "", http.StatusOK, "goroutine"},
		{"heap?debug=1", "", http.StatusOK, "# Mallocs = "},
		{"profile?seconds=1", "", http.StatusOK, "\x1f\x8b"}, // gzip
		{"cmdline", "", http.StatusOK, "profiles.test"},
		{"none", "", http.StatusNotFound, "Unknown profile"},
		{"heap", "rebound.example.com", http.StatusMisdirectedRequest, "not the name"},
		{"heap?debug=1", "127.0.0.1", http.StatusOK, "heap profile"},
	} {
		t.Run(test.path+" "+test.host, func(t *testing.T) {
			t.Parallel()
			status, body := get(t.Context(), t, s.URL()+test.path, test.host)
			if status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("%d: %.200q", status, body)
			}
			if strings.Contains(body, "-test.") {
				t.Errorf("tells the arguments: %.200q", body)
			}
		})
	}
	addr := strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), Path)
	_, err = Start(t.Context(), addr, log)
	if err == nil || !strings.Contains(err.Error(), "pprof address "+addr) {
		t.Errorf("the same address again: %v", err)
	}
}

func get(ctx context.Context, t *testing.T, url, host string) (status int, body string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody))(t)
	req.Host = host
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	must.Get(b.ReadFrom(resp.Body))(t)
	return resp.StatusCode, b.String()
}

// TestCheckAddress checks that only an address of this machine is taken.
func TestCheckAddress(t *testing.T) {
	for addr, want := range map[string]string{
		"":                 "",
		"127.0.0.1:0":      "",
		"[::1]:6060":       "",
		"localhost:6060":   "",
		":6060":            "--pprof :6060: not a loopback address",
		"0.0.0.0:6060":     "--pprof 0.0.0.0:6060: not a loopback address",
		"192.0.2.1:6060":   "not a loopback address",
		"6060":             `--pprof: "6060" is not an address such as`,
		"127.0.0.1:999999": "is not an address such as",
	} {
		err := CheckAddress(t.Context(), addr)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", addr, err, want)
		}
	}
}
