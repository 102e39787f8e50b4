package web_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
)

func TestConformance(t *testing.T) {
	type fields = actiontest.Fields
	authentication := func(kind string, more fields) func(fields, any) {
		return func(f fields, value any) {
			a := fields{"type": kind}
			for name, v := range more {
				a[name] = v
				if v == nil {
					a[name] = value
				}
			}
			f["authentication"] = a
		}
	}
	actiontest.Conform(t, actiontest.Type{
		Kind: "Http", Field: "request", Text: "body", Schemes: []string{"http", "https"},
		Open: func(t *testing.T, guard *egress.Guard, roots *x509.CertPool) scheduler.ActionReader {
			t.Helper()
			return newClient(t, web.Config{Guard: guard, RootCAs: roots})
		},
		Serve: func(t *testing.T, config *tls.Config) (string, func() int) {
			t.Helper()
			s := newTarget(nil)
			s.Config.ErrorLog = discardLog
			if s.TLS = config; config == nil {
				s.Start()
			} else {
				s.StartTLS()
			}
			t.Cleanup(s.Close)
			return s.Listener.Addr().String(), func() int { return len(s.seen()) }
		},
		To: func(scheme, address string) fields {
			return fields{"uri": scheme + "://" + address + "/", "method": "POST"}
		},
		Secrets: []actiontest.Secret{
			{Name: "header", Valid: "s3cret-key", Set: func(f fields, value any) { f["headers"] = fields{"X-Api-Key": value} }},
			{Name: "password", Valid: "s3cret-word", Set: authentication("Basic", fields{"username": "u", "password": nil})},
			{
				Name: "client secret", Valid: "s3cret",
				Set: authentication("OAuth2", fields{"tokenUrl": "http://127.0.0.1:1/", "clientId": "c", "secret": nil}),
			},
			{Name: "webhook", Valid: webhookSecret, Set: func(f fields, value any) { f["webhook"] = fields{"secret": value} }},
		},
		Answer: func(t *testing.T, status int) fields {
			t.Helper()
			s := listen(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(status)
			})
			return fields{"uri": s.URL, "method": "POST"}
		},
	})
}
