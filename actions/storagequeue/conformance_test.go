package storagequeue_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler"
)

func TestConformance(t *testing.T) {
	type fields = actiontest.Fields
	to := func(url string) fields { return job(members{"storageAccount": url + "/myaccount"}) }
	actiontest.Conform(t, actiontest.Type{
		Kind: "StorageQueue", Field: "queueMessage", Text: "message", Schemes: []string{"http", "https"},
		Open: func(t *testing.T, guard *egress.Guard, roots *x509.CertPool) scheduler.ActionReader {
			t.Helper()
			config := storagequeue.Config{Guard: guard}
			if roots != nil {
				config.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
			}
			return newClient(t, config)
		},
		Serve: func(t *testing.T, config *tls.Config) (string, func() int) {
			t.Helper()
			c := emulator.Config{AutoCreate: true, Keys: emulator.Lenient}
			if config != nil {
				c.Certificate = &config.Certificates[0]
			}
			w := newHarness(t, c)
			return w.server.Addr(), func() int {
				queue, _ := w.server.Queue("myaccount", "myqueue") // none before it is first used
				return queue.Messages
			}
		},
		To: func(scheme, address string) fields { return to(scheme + "://" + address) },
		Secrets: []actiontest.Secret{
			{Name: "token", Valid: "sv=2020-02-10&sp=a&sig=s3cret", Set: func(f fields, value any) { f["sasToken"] = value }},
		},
		Answer: func(t *testing.T, status int) fields {
			t.Helper()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(status)
			}))
			t.Cleanup(s.Close)
			return to(s.URL)
		},
	})
}
