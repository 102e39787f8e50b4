package listen

import (
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// TestHosts has what a server is called, by where it listens and what --allowed-host says.
func TestHosts(t *testing.T) {
	for name, test := range map[string]struct {
		addr    string
		names   []string
		allowed []string
		refused []string
	}{
		"loopback": {
			"127.0.0.1:8080", nil,
			[]string{
				"127.0.0.1:8080", "127.0.0.1", "127.9.9.9:1", "[::1]:8080", "[::1]", "[::ffff:127.0.0.1]:80", "localhost", "LOCALHOST:8080",
				"localhost.", "localhost.:80", "acc.localhost:10001", "a.b.localhost", "",
			},
			[]string{
				"evil.example", "evil.example:8080", "localhost.evil.example", "evillocalhost", "localhost.evil", ".localhost", "10.0.0.1",
				"169.254.169.254:8080", "[fd00::1]", "0.0.0.0:8080", "127.0.0.1.evil.example", "127.0.0.1.nip.io:8080", "2130706433", "127.1",
				"ⓛocalhost", "carillon:8080", "localhost:80:80", " localhost", "localhost,evil.example",
			},
		},
		"loopback by name": {"localhost:0", nil, []string{"localhost:1", "[::1]:1"}, []string{"evil.example"}},
		"loopback with names": {
			"[::1]:8080", []string{"Carillon.Example.com", "*.corp.example", "10.0.0.1"},
			[]string{"carillon.example.com:80", "carillon.example.com.", "a.corp.example", "a.b.CORP.example", "127.0.0.1", "localhost", "10.0.0.1:80"},
			[]string{"example.com", "corp.example", ".corp.example", "evilcorp.example", "carillon.example.com.evil.example"},
		},
		"elsewhere": {"0.0.0.0:8080", nil, []string{"carillon:8080", "evil.example", "10.0.0.1", ""}, nil},
		"elsewhere with names": {
			":8080", []string{"carillon"},
			[]string{"carillon:8080", "10.0.0.1:8080", "[fd00::1]:8080", "127.0.0.1:8080", "localhost:8080"},
			[]string{"evil.example", "carillon.evil.example"},
		},
	} {
		allowed := Hosts(t.Context(), test.addr, test.names)
		if (allowed == nil) != (name == "elsewhere") {
			t.Fatalf("%s: everything is allowed: %t", name, allowed == nil)
		}
		if allowed == nil {
			continue
		}
		for _, host := range test.allowed {
			if !allowed(host) {
				t.Errorf("%s: %q is refused", name, host)
			}
		}
		for _, host := range test.refused {
			if allowed(host) {
				t.Errorf("%s: %q is allowed", name, host)
			}
		}
	}
}

func TestCheckHosts(t *testing.T) {
	for name, right := range map[string]bool{
		"carillon": true, "carillon.example.com": true, "*.example.com": true, "10.0.0.1": true, "::1": true, "a_b.c": true,
		"": false, "*": false, "*.": false, "http://a": false, "a:80": false, "a b": false, "*.*.a": false, "a/b": false, "-a": false,
	} {
		err := CheckHosts([]string{"ok", name})
		if (err == nil) != right || !right && terminal.ExitCode(err) != terminal.ExitUsage {
			t.Errorf("%q: %v", name, err)
		}
	}
}
