package storagequeue_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestTLS posts over https, to a certificate that is not trusted and one that is.
func TestTLS(t *testing.T) {
	certificate, authority, err := emulatortest.Certificate("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, emulator.Config{AutoCreate: true, Certificate: &certificate})
	result := w.post(nil)
	host := strings.TrimPrefix(w.server.URL(), "https://")
	wantFailure(t, result, 0, false, "StorageQueue Action - Request to account 'myaccount' at '"+host+"' failed: "+
		"TLS: certificate signed by unknown authority*")

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	w.actions = newClient(t, storagequeue.Config{
		Endpoints: egress.Endpoints{Default: w.server.URL() + "/{name}"},
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
	})
	if result := w.post(nil); result.Failed {
		t.Error(result)
	}
}

// TestGuard has a guard that refuses the emulator's address, and one that lets it pass.
func TestGuard(t *testing.T) {
	w := newWorld(t, emulator.Config{AutoCreate: true})
	config := storagequeue.Config{Endpoints: egress.Endpoints{Default: w.server.URL() + "/{name}"}, Guard: egress.NewGuard()}
	w.actions = newClient(t, config)
	host := strings.TrimPrefix(w.server.URL(), "http://")
	wantFailure(t, w.post(nil), 0, true, "StorageQueue Action - Request to account 'myaccount' at '"+host+"' failed: "+
		"127.0.0.1 is a loopback address, which jobs must not reach; --allow-target 127.0.0.1/32 allows it")

	config.Guard = egress.NewGuard(netip.MustParsePrefix("127.0.0.0/8"))
	w.actions = newClient(t, config)
	if result := w.post(nil); result.Failed {
		t.Error(result)
	}
}

// TestProxy posts through a proxy, which must not be asked for addresses that the guard refuses.
func TestProxy(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Scheme+"://"+r.URL.Host+r.URL.Path)
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(proxy.Close)
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := newClient(t, storagequeue.Config{Proxy: at, Guard: egress.NewGuard()})
	post := func(account string) (status int, final bool) {
		result := mustRead(t, client, job(members{"storageAccount": account})).Invoke(t.Context(), attempt())
		if !result.Failed {
			t.Errorf("%s: %+v", account, result)
		}
		return result.Status, result.Final
	}
	if status, final := post("http://abc.queue.example.com"); status != 502 || final {
		t.Errorf("a name: status %d, final %t", status, final)
	}
	for _, account := range []string{"http://169.254.169.254/abc", "http://[::1]:10001/abc", "https://10.0.0.1/abc", "http://localhost:10001/abc"} {
		if status, final := post(account); status != 0 || !final {
			t.Errorf("%s: status %d, final %t", account, status, final)
		}
	}
	if len(asked) != 1 || asked[0] != "POST http://abc.queue.example.com/myqueue/messages" {
		t.Errorf("asked %q", asked)
	}
}

// TestGuardedInEverySpelling has accounts at inner addresses, and a proxy that must not be asked for any.
func TestGuardedInEverySpelling(t *testing.T) {
	trap, touched := actiontest.Trap(t)
	proxy := &url.URL{Scheme: "http", Host: "127.0.0.1:" + trap}
	for name, by := range map[string]struct {
		proxy *url.URL
		hosts []string
	}{"direct": {nil, actiontest.InnerAddresses}, "proxy": {proxy, actiontest.InnerHosts}} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, storagequeue.Config{Guard: egress.NewGuard(), Proxy: by.proxy})
			actiontest.CheckGuarded(t, by.hosts, func(host, port string) (scheduler.Action, error) {
				action, _, err := read(t, client, job(members{"storageAccount": "http://" + host + ":" + port + "/devstoreaccount1"}))
				return action, err
			})
		})
	}
	if n := touched(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}
