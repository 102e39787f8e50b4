package servicebus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/receive"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// watchedTripper counts the responses by their status.
type watchedTripper struct {
	http.RoundTripper

	ok, refused atomic.Int64
}

func (w *watchedTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.RoundTripper.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusOK {
		w.ok.Add(1)
	} else {
		w.refused.Add(1)
	}
	return resp, err
}

// TestLag reports the active messages of a queue and of a subscription. A key without the right Manage is no error.
func TestLag(t *testing.T) {
	const host = "ns.servicebus.windows.net"
	certificate, authority, err := emulatortest.Certificate(host)
	must.Do(t, err)
	server := emulatortest.ServiceBus(t, emulator.Config{
		TLS: &tls.Config{Certificates: []tls.Certificate{certificate}}, Auth: emulator.Strict,
		Keys: map[string]string{"manage": "a2V5", "listen": "a2V5"}, Rights: map[string][]string{"listen": {"Listen"}},
		Entities: emulator.Entities{
			Queues: []emulator.Queue{{Name: "managed"}, {Name: "listened"}},
			Topics: []emulator.Topic{{Name: "t", Subscriptions: []emulator.Subscription{{Name: "s"}}}},
		},
	})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	c := New(Config{TLS: &tls.Config{RootCAs: roots}})
	defer c.Close()
	c.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Addr())
	}
	api := c.management.RoundTripper.(*http.Transport)
	defer api.CloseIdleConnections()
	api.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != host+":443" {
			t.Errorf("the management API is at %s", address)
		}
		return new(net.Dialer).DialContext(ctx, network, server.HTTPAddr())
	}
	answers := &watchedTripper{RoundTripper: api}
	c.management.RoundTripper = answers
	for _, entity := range []string{"managed", "listened", "t"} {
		to := queueAt(t, server.Addr())
		to.keyName, to.key, to.entity = "manage", "a2V5", entity
		must.Do(t, c.send(t.Context(), to, text("1")), c.send(t.Context(), to, text("2")))
	}
	vault := secrets.NewVault(secrets.Config{Keys: seal.NewKeyring(must.Get(seal.NewKey("k"))(t))})
	stored := map[string][]byte{}
	for name, rest := range map[string]string{
		"managed":  `"type": "serviceBusQueue", "serviceBusQueue": {"queueName": "managed", "connectionString": %q}`,
		"listened": `"type": "serviceBusQueue", "serviceBusQueue": {"queueName": "listened", "connectionString": %q}`,
		"s":        `"type": "serviceBusSubscription", "serviceBusSubscription": {"topicName": "t", "subscriptionName": "s", "connectionString": %q}`,
	} {
		key := "manage"
		if name == "listened" {
			key = "listen"
		}
		tree := must.Get(document.Parse(fmt.Appendf(nil, "{"+rest+"}", "Endpoint=sb://"+host+"/;SharedAccessKeyName="+key+";SharedAccessKey=a2V5")))(t)
		s := must.Get(source.Read(scheduler.Key{Collection: "c", Job: name}, tree, nil))(t).Replacing(nil, name, time.Now())
		stored[source.StoredName(s.Key)] = must.Get(s.Encode(vault))(t)
	}
	m := receive.New(receive.Config{
		Receivers: []receive.Receiver{c}, Secrets: vault,
		Watch: func(ctx context.Context, ready func(), changed func(string, uint64, []byte)) error {
			for name, data := range stored {
				changed(name, 1, data)
			}
			ready()
			<-ctx.Done()
			return nil
		},
		Publish: func(ctx context.Context, _ scheduler.Topic, _ map[string][]string, _ []byte) (uint64, bool, error) {
			<-ctx.Done() // so that the messages wait
			return 0, false, ctx.Err()
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- m.Run(ctx) }()
	must.Await(t, "the lags", func() bool {
		all := m.Statuses()
		managed, s := all["managed"].Lag, all["s"].Lag
		return answers.ok.Load() == 2 && answers.refused.Load() == 1 && managed != nil && *managed == 2 && s != nil && *s == 2
	})
	if status := m.Statuses()["listened"]; !status.Running || status.Lag != nil || status.LastError != "" {
		t.Errorf("without the right: %+v", status)
	}
	cancel()
	must.Do(t, <-ended)
}
