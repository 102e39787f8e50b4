package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestCommandsAsUsersOfTheExample runs a scheduler and commands as the users of the example's NATS server, with nothing but
// the permissions that stand there.
func TestCommandsAsUsersOfTheExample(t *testing.T) {
	o := must.Get(server.ProcessConfigFile("../../examples/nats/nats-server.conf"))(t)
	o.Port, o.StoreDir, o.NoLog, o.NoSigs = server.RANDOM_PORT, t.TempDir(), true, true
	at := natsServer(t, o)
	as := func(user, password string) string {
		return strings.Replace(at, "nats://", "nats://"+user+":change-me-"+password+"@", 1)
	}
	s := serveOn(t, "--nats-url", as("carillon", "scheduler"))
	s.untilReady(t)
	job := filepath.Join(t.TempDir(), "report.yaml")
	const text = "startTime: 2099-01-01\naction: {type: http, request: {method: GET, uri: 'https://example.com/'}}\n"
	must.Do(t, os.WriteFile(job, []byte(text), 0o600))
	for _, test := range []struct {
		user, args string
		code       int
	}{
		{"admin", "collection create partners", terminal.ExitOK},
		{"admin", "collection create other", terminal.ExitOK},
		{"partners-operator", "apply -c partners " + job, terminal.ExitOK},
		{"partners-operator", "apply -c other " + job, terminal.ExitFailure},
		{"partners-reader", "get -c partners", terminal.ExitOK},
		{"partners-reader", "get -c partners report", terminal.ExitOK},
		{"partners-reader", "history partners/report", terminal.ExitOK},
		{"partners-reader", "why partners/report", terminal.ExitOK},
		{"partners-reader", "get -c other", terminal.ExitFailure},
		{"partners-reader", "disable partners/report", terminal.ExitFailure},
		{"partners-reader", "collection delete partners --with-jobs", terminal.ExitFailure},
		{"partners-operator", "disable partners/report", terminal.ExitOK},
		{"partners-operator", "collection disable partners", terminal.ExitFailure},
		{"partners-operator", "secrets list", terminal.ExitFailure},
		{"partners-operator", "events publish partners.orders {}", terminal.ExitOK},
		{"partners-publisher", "events publish -c partners orders {}", terminal.ExitOK},
		{"partners-operator", "events publish other.orders {}", terminal.ExitFailure},
		{"partners-reader", "events publish partners.orders {}", terminal.ExitFailure},
		{"partners-reader", "events list -c partners", terminal.ExitOK},
		{"partners-reader", "events list", terminal.ExitFailure},
		{"partners-reader", "events show 2 -c partners", terminal.ExitOK},
		{"reader", "events show 2", terminal.ExitOK},
		{"partners-admin", "collection disable partners", terminal.ExitOK},
		{"partners-admin", "secrets list", terminal.ExitFailure},
		{"operator", "collection list", terminal.ExitOK},
		{"operator", "secrets list", terminal.ExitFailure},
		{"admin", "secrets list", terminal.ExitOK},
	} {
		args := append(strings.Fields(test.args), "--server", "http://127.0.0.1:1", "--nats-url", as(test.user, test.user), "--inbox-prefix", "_INBOX_"+test.user)
		code, out := runOnce("", args...)
		if code != test.code || code != terminal.ExitOK && !strings.Contains(out, "may not publish to carillon.") {
			t.Errorf("%s: %s: exit code %d, %s", test.user, test.args, code, out)
		}
	}
	code, out := runOnce("", "get", "-c", "partners", "--nats-url", as("partners-reader", "partners-reader"))
	if code != terminal.ExitFailure || !strings.Contains(out, "its inbox prefix is another one") {
		t.Errorf("without an inbox prefix: exit code %d, %s", code, out)
	}
	s.end(t)
	if strings.Contains(strings.ToLower(s.log.String()), "permission") {
		t.Errorf("the scheduler lacks permissions:\n%s", s.log)
	}
}
