package node_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/node/nodetest"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/store/embedded"
)

// vaultWorld is a node with everything that jobs can deliver to.
type vaultWorld struct {
	t       *testing.T
	node    *nodetest.Scheduler
	dir     string
	js      jetstream.JetStream
	close   func() // the server
	config  node.Config
	keys    []seal.Key // of the node
	log     *logtest.Log
	mirror  *mirror
	plain   *httptest.Server
	secure  *httptest.Server
	broker  *server.Server // another NATS server, with a password
	planted map[string]string
	dumps   dumps
}

func newVaultWorld(t *testing.T) *vaultWorld {
	t.Helper()
	w := &vaultWorld{t: t, dir: t.TempDir(), log: &logtest.Log{}, planted: map[string]string{}}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.mirror = &mirror{seen: &logtest.Log{}, bodies: &logtest.Log{}, token: w.plant("access token"), clientSecret: w.plant("refused client secret")}
	w.plain = httptest.NewServer(w.mirror)
	t.Cleanup(w.plain.Close)
	w.secure = httptest.NewUnstartedServer(w.mirror)
	w.secure.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	w.secure.StartTLS()
	t.Cleanup(w.secure.Close)
	w.startBroker()
	delivery := w.delivery()

	s := must.Get(embedded.Start(t.Context(), embedded.Config{Dir: w.dir, Logger: log}))(t)
	w.close = sync.OnceFunc(s.Close)
	t.Cleanup(w.close)
	nc := must.Get(s.Connect(node.NewLink(log, func() {}).Options()...))(t)
	t.Cleanup(func() { node.CloseConn(nc) })
	w.js = must.Get(jetstream.New(nc))(t)
	w.config = node.Config{Conn: nc, Delivery: delivery, Logger: log}
	w.open(w.newKey("k1"))
	return w
}

// newKey makes a key, which is a secret too.
func (w *vaultWorld) newKey(id string) seal.Key {
	w.t.Helper()
	k := must.Get(seal.NewKey(id))(w.t)
	_, w.planted["the key "+id], _ = strings.Cut(k.Text(), ":")
	return k
}

// open starts a node that has some keys.
func (w *vaultWorld) open(keys ...seal.Key) {
	w.t.Helper()
	w.config.Keys, w.keys = seal.NewKeyring(keys[0], keys[1:]...), keys
	w.node = nodetest.Run(w.t, w.config, nil)
}

// delivery starts the emulators and says where everything is.
func (w *vaultWorld) delivery() builtin.Config {
	w.t.Helper()
	ctx := context.WithoutCancel(w.t.Context())
	bus := must.Get(servicebus.Start(ctx, servicebus.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", AutoCreate: true}))(w.t)
	w.t.Cleanup(func() { _ = bus.Close() })
	queue := must.Get(storagequeue.Start(ctx, storagequeue.Config{Addr: "127.0.0.1:0", Keys: storagequeue.Lenient, AutoCreate: true}))(w.t)
	w.t.Cleanup(func() { _ = queue.Close() })
	roots := x509.NewCertPool()
	roots.AddCert(w.secure.Certificate())
	login := must.Get(url.Parse(w.plain.URL + "/token"))(w.t)
	return builtin.Config{
		ServiceBus:    egress.Endpoints{Default: "amqp://" + bus.Addr()},
		StorageQueues: egress.Endpoints{Default: queue.URL() + "/{name}"},
		LoginEndpoint: login, RootCAs: roots,
	}
}

func (w *vaultWorld) startBroker() {
	w.t.Helper()
	w.broker = must.Get(server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, Username: "me", Password: w.plant("NATS password"),
	}))(w.t)
	w.broker.Start()
	w.t.Cleanup(func() { w.broker.Shutdown(); w.broker.WaitForShutdown() })
	if !w.broker.ReadyForConnections(20 * time.Second) {
		w.t.Fatal("the NATS server does not start")
	}
}

// plant makes a secret. It has characters that are written differently in JSON
// and in URLs.
func (w *vaultWorld) plant(kind string) string {
	secret := "pl+nted/" + hex.EncodeToString([]byte(kind)) + "<&>=" + rand.Text()
	w.planted[kind] = secret
	return secret
}

// request asks the micro service.
func (w *vaultWorld) request(subject, body string) {
	w.t.Helper()
	m := must.Get(w.node.Conn.Request("carillon.api."+subject, []byte(body), 20*time.Second))(w.t)
	w.dumps.add("NATS "+subject, fmt.Sprint(m.Header)+string(m.Data))
}

// answer asks over REST, and keeps the answer.
func (w *vaultWorld) answer(method, path, body string) string {
	w.t.Helper()
	text, _ := w.call(method, path, body)
	return text
}

// put asks over REST for what must succeed.
func (w *vaultWorld) put(method, path, body string) {
	w.t.Helper()
	if text, status := w.call(method, path, body); status/100 != 2 {
		w.t.Errorf("%s %s: %d %s", method, path, status, text)
	}
}

func (w *vaultWorld) call(method, path, body string) (text string, status int) {
	w.t.Helper()
	req := must.Get(http.NewRequestWithContext(w.t.Context(), method, w.node.API+path, strings.NewReader(body)))(w.t)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	data := must.Get(io.ReadAll(resp.Body))(w.t)
	w.dumps.add("REST "+method+" "+path, fmt.Sprint(resp.Header)+string(data))
	return string(data), resp.StatusCode
}

func (w *vaultWorld) await(what string, ok func() bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited in vain for %s: %s", what, w.answer("GET", "/jobCollections/default/jobs", ""))
		}
	}
}
