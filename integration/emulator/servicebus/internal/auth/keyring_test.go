package auth_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
)

func TestToken(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	sign := func(name, key, resource string, life time.Duration) string {
		return auth.Sign(name, key, resource, now.Add(life))
	}
	good := sign("root", "key+/=", "amqp://Host:5672/Queue", time.Hour)
	tests := []struct {
		name, token, audience string
		off, lenient, strict  bool
	}{
		{"good", good, "amqp://host:5672/queue", true, true, true},
		{"good for what is below", good, "amqp://host:5672/queue/$management", true, true, true},
		{"good by another scheme and host", good, "sb://other/queue", true, true, true},
		{"good for the namespace", sign("root", "key+/=", "sb://host/", time.Hour), "amqp://host/any", true, true, true},
		{"good for a request", sign("root", "key+/=", "https://host/queue?api-version=2021-05", time.Hour), "https://host/queue", true, true, true},
		{"of another queue", good, "amqp://host/queue2", true, true, false},
		{"of a wrong key", sign("root", "wrong", "amqp://host/queue", time.Hour), "amqp://host/queue", true, true, false},
		{"of an unknown key", sign("other", "key+/=", "amqp://host/queue", time.Hour), "amqp://host/queue", true, true, false},
		{"expired", sign("root", "key+/=", "amqp://host/queue", -time.Second), "amqp://host/queue", true, false, false},
		{"changed", strings.Replace(good, "se=17", "se=18", 1), "amqp://host/queue", true, true, false},
		{"a web token", "eyJhbGciOi.eyJ.sig", "amqp://host/queue", true, true, false},
		{"garbage", "SharedAccessSignature garbage", "amqp://host/queue", true, false, false},
		{"none", "", "amqp://host/queue", true, false, false},
	}
	for _, test := range tests {
		for mode, want := range map[auth.Mode]bool{auth.Off: test.off, auth.Lenient: test.lenient, auth.Strict: test.strict} {
			ring := auth.Keyring{Mode: mode, Keys: map[string]string{"root": "key+/="}}
			until, err := ring.Token(test.token, test.audience, now)
			if got := err == nil; got != want || !got && !errors.Is(err, auth.ErrDenied) || got && !until.After(now) {
				t.Errorf("%s, %s: until %v, %v", test.name, mode, until, err)
			}
		}
	}
}

// TestRefusals shows that tokens are refused in the words of the service.
func TestRefusals(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	ring := auth.Keyring{Mode: auth.Strict, Keys: map[string]string{"root": "key"}}
	for want, token := range map[string]string{
		"ExpiredToken: The token is expired. Expiration time:'Tue, 14 Nov 2023 22:12:20 UTC'.": auth.Sign("root", "key", "sb://h/q", now.Add(-time.Minute)),
		"InvalidSignature: The token has an invalid signature.":                                auth.Sign("root", "wrong", "sb://h/q", now.Add(time.Minute)),
	} {
		if _, err := ring.Token(token, "sb://h/q", now); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestPassword(t *testing.T) {
	ring := auth.Keyring{Mode: auth.Strict, Keys: map[string]string{"root": "key"}}
	if ring.Password("root", "key") != nil || ring.Password("root", "wrong") == nil || ring.Password("other", "key") == nil {
		t.Error("strict mode takes a wrong key or refuses the right one")
	}
	if ring.Mode = auth.Lenient; ring.Password("other", "") != nil {
		t.Error("lenient mode refuses a key")
	}
}

func TestParseMode(t *testing.T) {
	for name, want := range map[string]auth.Mode{"": auth.Lenient, "Strict": auth.Strict, "off": auth.Off} {
		if got, err := auth.ParseMode(name); got != want || err != nil {
			t.Error(name, got, err)
		}
	}
	if _, err := auth.ParseMode("loose"); err == nil {
		t.Error("an unknown mode is taken")
	}
}
