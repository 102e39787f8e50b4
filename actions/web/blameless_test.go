package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/web"
)

// TestBlameless has failures that say nothing about the target, and some that
// do.
func TestBlameless(t *testing.T) {
	server := listen(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/token":
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case "/501":
			w.WriteHeader(http.StatusNotImplemented)
		case "/inside":
			http.Redirect(w, r, "http://10.0.0.1/", http.StatusFound)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	at := fmt.Sprintf(`"uri":"%s`, server.URL)
	token := `"authentication":{"type":"OAuth2","clientId":"c","secret":"s3cret","tokenUrl":`
	const closed = `"http://127.0.0.1:1/"` // a port that nothing listens on
	guard := egress.NewGuard()
	guard.AllowAddr(netip.MustParseAddrPort(server.Listener.Addr().String()))
	client := newClient(t, web.Config{Guard: guard})
	for request, want := range map[string]bool{
		at + `/501"`:      true,
		at + `/503"`:      false,
		at + `/inside"`:   true,
		`"uri":` + closed: true, // refused by the guard
		at + `/","headers":{"X-Key":{"secretRef":"none"}}`:          true,
		at + `/",` + token + fmt.Sprintf(`"%s/token"}`, server.URL): true,
		at + `/",` + token + closed + `}`:                           true,
		at + `/","webhook":{"secret":{"secretRef":"none"}}`:         true,
	} {
		if result := invoke(t, client, `{"method":"POST",`+request+`}`); !result.Failed || result.Blameless != want {
			t.Errorf("%s: want %t, got %+v", request, want, result)
		}
	}
	client = newClient(t, web.Config{})
	if result := invoke(t, client, `{"method":"POST","uri":`+closed+`}`); !result.Failed || result.Blameless {
		t.Errorf("no connection: got %+v", result)
	}
	if result := invoke(t, client, `{"method":"POST",`+at+`/",`+token+closed+`}}`); !result.Failed || !result.Blameless {
		t.Errorf("no connection to the token server: got %+v", result)
	}
}

// TestBlamelessRenewal has a target that takes no token, and a token server that has no other one.
func TestBlamelessRenewal(t *testing.T) {
	asked := 0
	server := listen(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/token":
			w.WriteHeader(http.StatusUnauthorized)
		case asked == 0:
			asked++
			_, _ = io.WriteString(w, `{"access_token":"t0ken"}`)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	result := invoke(t, newClient(t, web.Config{}), fmt.Sprintf(`{"uri":"%s/","method":"GET",
		"authentication":{"type":"OAuth2","clientId":"c","secret":"s3cret","tokenUrl":"%s/token"}}`, server.URL, server.URL))
	if !result.Failed || !result.Blameless || !strings.Contains(result.Message, "Token request to host ") {
		t.Errorf("got %+v", result)
	}
}
