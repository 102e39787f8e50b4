package main

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/freeport"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// readiness returns what `carillon health` says of an address; "" when it is ready.
func readiness(t *testing.T, address string) string {
	t.Helper()
	c := healthCmd{Address: address, Timeout: patience}
	if err := c.Run(t.Context(), &terminal.Terminal{Out: new(strings.Builder), Err: new(strings.Builder)}); err != nil {
		return err.Error()
	}
	return ""
}

// TestReadyTellsWhatTheStartWaitsFor starts a scheduler before its NATS server, of which it tells where that should be, and
// before the server has JetStream. The log has the same words.
func TestReadyTellsWhatTheStartWaitsFor(t *testing.T) {
	t.Parallel()
	port := freeport.Pick(t)
	url := "nats://127.0.0.1:" + strconv.Itoa(port)
	here := freeport.Address(t)
	s := serveOn(t, "--http", here, "--nats-url", url)
	const want = ": no server answers there"
	s.until(t, "it says that it waits", func() bool { return strings.Contains(readiness(t, "http://"+here), want) })
	said := readiness(t, "http://"+here)
	if !strings.Contains(said, "503: starting, and waiting since ") || !strings.Contains(said, "NATS at "+url+want+"; name the server with --nats-url") {
		t.Errorf("it says %s", said)
	}
	if log := s.log.String(); !strings.Contains(log, "NATS at "+url+want) || !strings.Contains(log, "hint=") {
		t.Errorf("the log says %s", log)
	}
	if said := readiness(t, "http://"+here+"/healthz"); said != "" {
		t.Errorf("it does not live: %s", said)
	}
	natsServer(t, &server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
	s.until(t, "it is ready", func() bool { return readiness(t, "http://"+here) == "" })
	s.end(t)
}

// TestReadyTellsWhoIsSilent starts a scheduler whose NATS server takes connections, and says nothing.
func TestReadyTellsWhoIsSilent(t *testing.T) {
	t.Parallel()
	l := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	here := freeport.Address(t)
	s := serveOn(t, "--http", here, "--nats-url", "nats://"+l.Addr().String())
	s.until(t, "it says that it waits", func() bool {
		said := readiness(t, "http://"+here)
		return strings.Contains(said, "waiting since") && strings.Contains(said, l.Addr().String()+": the server accepts the connection but does not respond")
	})
	s.stop()
	if err := <-s.ended; terminal.ExitCode(err) != terminal.ExitOK {
		t.Errorf("it ends with %v", err)
	}
}

// TestNobodyIsToldTheTokenOfNATS connects with a token, which stands in the URL where a user does, before there is a server,
// while there is one, and after it has gone.
func TestNobodyIsToldTheTokenOfNATS(t *testing.T) {
	t.Parallel()
	const token = "s3cret"
	port := freeport.Pick(t)
	here := freeport.Address(t)
	s := serveOn(t, "--http", here, "--nats-url", "nats://"+token+"@127.0.0.1:"+strconv.Itoa(port))
	var said []string
	saysItWaits := func(text string) func() bool {
		return func() bool {
			said = append(said, readiness(t, "http://"+here))
			return strings.Contains(said[len(said)-1], text)
		}
	}
	s.until(t, "it says that it waits", saysItWaits("no server answers there"))
	ns := startNATS(t, &server.Options{
		Host: "127.0.0.1", Port: port, Authorization: token, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
	})
	s.untilReady(t)
	ports := must.Get(os.ReadFile(s.ports))(t)
	ns.Shutdown()
	s.until(t, "it says that it lost the server", saysItWaits("not connected to NATS at nats://127.0.0.1:"+strconv.Itoa(port)))
	s.stop()
	if err := <-s.ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
	if all := strings.Join(append(said, string(ports), s.log.String()), "\n"); strings.Contains(all, token) {
		t.Errorf("the token is told:\n%s", all)
	}
}
