package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/egress"
)

var loopbackNet = netip.MustParsePrefix("127.0.0.0/8")

// TestReplaceEndsWhatIsUnused sees a connection end that waits in a pool for its next request.
func TestReplaceEndsWhatIsUnused(t *testing.T) {
	ended := make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			ended <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	g := egress.NewGuard(loopbackNet)
	transport := egress.Route{Guard: g}.Transport(nil)
	get := func() error {
		resp, err := (&http.Client{Transport: transport}).Get(server.URL)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return errors.Join(err, resp.Body.Close())
	}
	if err := get(); err != nil {
		t.Fatal(err)
	}
	if n := g.Replace(loopbackNet, netip.MustParsePrefix("10.0.0.0/8")); n != 0 {
		t.Errorf("a wider list ends %d connections", n)
	}
	if n := g.Replace(); n != 1 {
		t.Errorf("a narrower one ends %d", n)
	}
	within(t, "the end of the connection", ended)
	if err := get(); !egress.IsRefused(err) {
		t.Errorf("the next request: %v", err)
	}
	g.Replace(loopbackNet)
	if err := get(); err != nil {
		t.Errorf("once it is allowed again: %v", err)
	}
}

// TestReplaceEndsWhatIsUsed sees a request end that waits for its answer, and is told why.
func TestReplaceEndsWhatIsUsed(t *testing.T) {
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	g := egress.NewGuard(loopbackNet)
	failed := make(chan error, 1)
	go func() {
		resp, err := (&http.Client{Transport: egress.Route{Guard: g}.Transport(nil)}).Post(server.URL, "", http.NoBody)
		if err == nil {
			_ = resp.Body.Close()
		}
		failed <- err
	}()
	within(t, "the request", asked)
	g.Replace()
	select {
	case err := <-failed:
		if !egress.IsRefused(err) {
			t.Errorf("got %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the request goes on")
	}
}

// TestReplaceKeepsAddresses sees what is allowed by itself, with its port, stay so.
func TestReplaceKeepsAddresses(t *testing.T) {
	here := listen(t, "127.0.0.1:0")
	g := egress.NewGuard(loopbackNet)
	g.AllowAddr(here)
	g.Replace()
	conn, err := g.DialContext(g.Dialer(time.Second))(t.Context(), "tcp", here.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if n := g.Replace(); n != 0 {
		t.Errorf("%d connections ended", n)
	}
	if n := (*egress.Guard)(nil).Replace(); n != 0 {
		t.Error("a nil guard ends connections")
	}
}

// TestReplaceRaces dials while the list changes: what was dialled is refused, or ended by the change that refuses it.
func TestReplaceRaces(t *testing.T) {
	here := listen(t, "127.0.0.1:0").String()
	g := egress.NewGuard(loopbackNet)
	dial := g.DialContext(g.Dialer(time.Second))
	ctx, stop := context.WithCancel(t.Context())
	var dialers sync.WaitGroup
	for range 4 {
		dialers.Go(func() {
			for ctx.Err() == nil {
				conn, err := dial(context.WithoutCancel(ctx), "tcp", here)
				switch {
				case err == nil:
					_ = conn.Close()
				case !egress.IsRefused(err):
					t.Error(err)
					return
				}
			}
		})
	}
	for range 200 {
		g.Replace()
		g.Replace(loopbackNet)
	}
	stop()
	dialers.Wait()
	conn, err := dial(t.Context(), "tcp", here)
	if err != nil {
		t.Fatal(err)
	}
	if n := g.Replace(); n != 1 {
		t.Errorf("%d connections are known after all were closed but one", n)
	}
	if _, err := conn.Write([]byte("x")); !egress.IsRefused(err) {
		t.Errorf("it can be written to: %v", err)
	}
	if err := conn.Close(); err == nil {
		t.Error("it was not closed")
	}
}

func within(t *testing.T, what string, happened <-chan struct{}) {
	t.Helper()
	select {
	case <-happened:
	case <-time.After(10 * time.Second):
		t.Fatalf("waited in vain for %s", what)
	}
}

// TestDialed asks a guard which connections of a server jobs have opened: those that it dialled, until they are closed.
func TestDialed(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g := egress.NewGuard(netip.MustParsePrefix("127.0.0.0/8"))
	dials := map[string]func(context.Context, string, string) (net.Conn, error){
		"a job":  g.DialContext(g.Dialer(time.Minute)),
		"others": new(net.Dialer).DialContext,
	}
	for who, dial := range dials {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		conn, err := dial(t.Context(), "tcp", "[::ffff:127.0.0.1]:"+port)
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { accepted.Close() })
		if got, want := g.Dialed(accepted.RemoteAddr(), accepted.LocalAddr()), who == "a job"; got != want {
			t.Errorf("%s: dialled by a job: %t, want %t", who, got, want)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if g.Dialed(accepted.RemoteAddr(), accepted.LocalAddr()) {
			t.Errorf("%s: a closed connection is still known", who)
		}
	}
	if (*egress.Guard)(nil).Dialed(l.Addr(), l.Addr()) {
		t.Error("a nil guard has dialled")
	}
}
