package natsmsg_test

import (
	"crypto/tls"
	"crypto/x509"
	"strconv"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/natsmsg"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

func TestConformance(t *testing.T) {
	type fields = actiontest.Fields
	field := func(names ...string) func(fields, any) {
		return func(f fields, value any) {
			for _, name := range names[1:] {
				f[name] = "u"
			}
			f[names[0]] = value
		}
	}
	actiontest.Conform(t, actiontest.Type{
		Kind: "NatsMessage", Field: "natsMessage", Text: "message", Schemes: []string{"nats", "tls", "ws", "wss"},
		Open: func(t *testing.T, guard *egress.Guard, roots *x509.CertPool) scheduler.ActionReader {
			t.Helper()
			return client(t, natsmsg.Config{Guard: guard, RootCAs: roots})
		},
		Serve: func(t *testing.T, config *tls.Config) (string, func() int) {
			t.Helper()
			s := run(t, func(o *server.Options) { o.JetStream, o.TLSConfig = false, config })
			nc := must.Get(nats.Connect(s.ClientURL(), func(o *nats.Options) error {
				if config != nil {
					o.Secure, o.TLSConfig = true, &tls.Config{InsecureSkipVerify: true}
				}
				return nil
			}))(t)
			t.Cleanup(nc.Close)
			sub := subscribe(t, nc, "orders")
			return s.Addr().String(), func() int {
				if err := nc.Flush(); err != nil {
					t.Error(err)
				}
				n, _, _ := sub.Pending()
				return n
			}
		},
		To: func(scheme, address string) fields {
			return fields{"subject": "orders", "servers": scheme + "://" + address}
		},
		Secrets: []actiontest.Secret{
			{Name: "header", Valid: "s3cret-key", Set: func(f fields, value any) { f["headers"] = fields{"X-Api-Key": value} }},
			{Name: "token", Valid: "s3cret-token", Set: field("token")},
			{Name: "password", Valid: "s3cret-word", Set: field("password", "user")},
			{Name: "credentials", Valid: "BEGIN NATS USER JWT s3cret BEGIN USER NKEY SEED", Set: field("credentials")},
		},
		Answer: func(t *testing.T, status int) fields {
			t.Helper()
			s := run(t)
			answer(t, connect(t, s), "orders", "", nats.Header{
				"Nats-Service-Error-Code": {strconv.Itoa(status)}, "Nats-Service-Error": {"no"}, "Retry-After": {"7"},
			})
			return fields{"subject": "orders", "mode": "request", "servers": s.ClientURL()}
		},
	})
}
