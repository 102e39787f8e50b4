package servicebus_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/scheduler"
)

func TestConformance(t *testing.T) {
	type fields = actiontest.Fields
	actiontest.Conform(t, actiontest.Type{
		Kind: "ServiceBusQueue", Field: "serviceBusQueueMessage", Text: "message", Schemes: []string{"amqp", "amqps", "sb"},
		Open: func(t *testing.T, guard *egress.Guard, roots *x509.CertPool) scheduler.ActionReader {
			t.Helper()
			return newClient(t, servicebus.Config{
				KeyOptional: true, Guard: guard, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			})
		},
		Serve: func(t *testing.T, config *tls.Config) (string, func() int) {
			t.Helper()
			server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true, TLS: config})
			return server.Addr(), func() int {
				queue, err := server.Broker().Entity("q1")
				if err != nil {
					return 0 // it is made when it is first used
				}
				return int(queue.Usage.Active)
			}
		},
		To: func(scheme, address string) fields {
			return fields{"namespace": scheme + "://" + address, "queueName": "q1"}
		},
		Secrets: []actiontest.Secret{
			{Name: "key", Valid: "s3cret-key", Set: func(f fields, value any) { f["authentication"] = fields{"sasKeyName": "n", "sasKey": value} }},
			{Name: "property", Valid: "s3cret-value", Set: func(f fields, value any) { f["customMessageProperties"] = fields{"apiKey": value} }},
		},
	})
}
