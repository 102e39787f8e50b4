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
			_, until, err := ring.Token(test.token, test.audience, now)
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
		if _, _, err := ring.Token(token, "sb://h/q", now); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestPassword(t *testing.T) {
	ring := auth.Keyring{Mode: auth.Strict, Keys: map[string]string{"root": "key"}}
	takes := func(name, text string) bool {
		_, err := ring.Password(name, text)
		return err == nil
	}
	if !takes("root", "key") || takes("root", "wrong") || takes("other", "key") {
		t.Error("strict mode takes a wrong key or refuses the right one")
	}
	if ring.Mode = auth.Lenient; !takes("other", "") {
		t.Error("lenient mode refuses a key")
	}
}

// TestGrants shows what keys are good for: those of the namespace with and without rights of their own, and those of an entity, which
// have two texts and sign for what is at or below it alone.
func TestGrants(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	ring := auth.Keyring{
		Mode: auth.Strict, Keys: map[string]string{"root": "r", "sender": "s"}, Rights: map[string]auth.Rights{"sender": auth.Send},
		Entities: func() []auth.Key {
			return []auth.Key{{Name: "reader", Texts: []string{"one", "two"}, Entity: "events", Rights: auth.Listen}}
		},
	}
	tests := []struct {
		name, key, resource, audience string
		want                          auth.Grant
		refused                       string
	}{
		{"root", "r", "sb://h/", "sb://h/q", auth.Grant{Rights: auth.All}, ""},
		{"sender", "s", "sb://h/q", "sb://h/q", auth.Grant{Rights: auth.Send}, ""},
		{"reader", "one", "sb://h/Events", "sb://h/events/subscriptions/s", auth.Grant{Rights: auth.Listen, Entity: "events"}, ""},
		{"reader", "two", "sb://h/events/subscriptions/s", "sb://h/events/Subscriptions/s", auth.Grant{Rights: auth.Listen, Entity: "events"}, ""},
		{"reader", "three", "sb://h/events", "sb://h/events", auth.Grant{}, "InvalidSignature"},
		{"reader", "one", "sb://h/other", "sb://h/other", auth.Grant{}, "no key of the name"},
		{"reader", "one", "sb://h/", "sb://h/events", auth.Grant{}, "no key of the name"},
		{"reader", "one", "sb://h/events", "sb://h/other", auth.Grant{}, "the token is for"},
	}
	for _, test := range tests {
		token := auth.Sign(test.name, test.key, test.resource, now.Add(time.Hour))
		got, _, err := ring.Token(token, test.audience, now)
		if got != test.want || (err == nil) != (test.refused == "") || err != nil && !strings.Contains(err.Error(), test.refused) {
			t.Errorf("%+v: %+v, %v", test, got, err)
		}
	}
	if got, err := ring.Password("reader", "two"); err != nil || got != (auth.Grant{Rights: auth.Listen, Entity: "events"}) {
		t.Error(got, err)
	}
}

func TestParseRights(t *testing.T) {
	for want, names := range map[string][]string{"Manage,Send,Listen": nil, "Send": {"send"}, "Send,Listen": {"Listen", " SEND"}} {
		if got, err := auth.ParseRights(names); err != nil || got.String() != want {
			t.Error(names, got, err)
		}
	}
	if got, err := auth.ParseRights([]string{"manage"}); err != nil || got != auth.All {
		t.Error(got, err)
	}
	if _, err := auth.ParseRights([]string{"read"}); err == nil {
		t.Error("an unknown right is taken")
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
