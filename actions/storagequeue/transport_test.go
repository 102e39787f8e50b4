package storagequeue_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	"github.com/carillon-sched/carillon/scheduler"
)

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

// TestProxyIsNotAskedForInnerAddresses has accounts at inner addresses.
func TestProxyIsNotAskedForInnerAddresses(t *testing.T) {
	trap, touched := actiontest.Trap(t)
	client := newClient(t, storagequeue.Config{Guard: egress.NewGuard(), Proxy: &url.URL{Scheme: "http", Host: "127.0.0.1:" + trap}})
	actiontest.CheckGuarded(t, actiontest.InnerHosts, func(host, port string) (scheduler.Action, error) {
		action, _, err := read(t, client, job(members{"storageAccount": "http://" + host + ":" + port + "/devstoreaccount1"}))
		return action, err
	})
	if n := touched(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}
