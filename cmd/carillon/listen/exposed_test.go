package listen

import (
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// TestExposed tells addresses of this machine alone from others.
func TestExposed(t *testing.T) {
	for addr, exposed := range map[string]bool{
		"127.0.0.1:8080": false, "127.1.2.3:0": false, "[::1]:8080": false, "localhost:8080": false, "LOCALHOST:1": false,
		"[::ffff:127.0.0.1]:80": false,
		":8080":                 true, "0.0.0.0:8080": true, "[::]:8080": true, "10.0.0.7:8080": true, "[fe80::1%lo]:80": true,
		"[::ffff:10.0.0.7]:80": true, "nowhere.invalid:80": true,
	} {
		flag := Flag{"http", addr}
		if got := len(Exposed(t.Context(), flag)) == 1; got != exposed {
			t.Errorf("%s: got %v", addr, got)
		}
		if err := RefuseExposed(t.Context(), flag); terminal.ExitCode(err) != map[bool]int{true: terminal.ExitUsage}[exposed] {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if got := Names([]Flag{{"http", ":1"}, {"nats", ":2"}, {"amqp", ":3"}}); got != "--http :1, --nats :2 and --amqp :3" {
		t.Errorf("names: %s", got)
	}
}
