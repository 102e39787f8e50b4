package remote

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// TestToken shows where the token of a context goes, and where it does not.
func TestToken(t *testing.T) {
	var got []string
	seen := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"value": [], "nextLink": null}`)
	})
	own, other := httptest.NewServer(seen), httptest.NewServer(seen)
	away := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(func() { own.Close(); other.Close(); away.Close() })
	path := filepath.Join(t.TempDir(), "config.yaml")
	file := "current: own\ncontexts:\n  own: {server: " + own.URL + ", token: s3cret}\n  away: {server: " + away.URL + ", token: s3cret}\n"
	must.Do(t, os.WriteFile(path, []byte(file), 0o600))
	for _, test := range []struct {
		name     string
		flags    REST
		variable string
		want     string
		refused  bool
	}{
		{"the current context", REST{Address: own.URL}, "", "Bearer s3cret", false},
		{"the context's address, with a slash", REST{Address: own.URL + "/"}, "", "Bearer s3cret", false},
		{"another server", REST{Address: other.URL}, "", "", false},
		{"another server, for which there is a variable", REST{Address: other.URL}, "else", "Bearer else", false},
		{"a server that leads away", REST{Context: "away", Address: away.URL}, "", "", true},
	} {
		got = nil
		term := &terminal.Terminal{Lookup: func(name string) (string, bool) {
			v, ok := map[string]string{"CARILLON_CONFIG": path, "CARILLON_TOKEN": test.variable}[name]
			return v, ok
		}}
		api, err := test.flags.Client(term)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Collect(api.List(t.Context(), client.Query{Collection: scheduler.DefaultCollection}), 0)
		switch {
		case test.refused:
			if err == nil || len(got) > 0 {
				t.Errorf("%s: %v, %d requests", test.name, err, len(got))
			}
		case err != nil || len(got) != 1 || got[0] != test.want:
			t.Errorf("%s: %v, got %q", test.name, err, got)
		}
	}
}
