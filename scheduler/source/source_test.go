package source_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
	"github.com/carillon-sched/carillon/scheduler/source"
)

var key = scheduler.Key{Collection: "sales", Job: "orders"}

func read(t *testing.T, text string) (*source.Source, error) {
	t.Helper()
	return source.Read(key, must.Get(document.Parse([]byte(text)))(t), nil)
}

const (
	hook    = `{"type": "webhook", "webhook": {"verify": {"type": "github", "secret": "hush"}, "rateLimit": {"requests": 5, "period": "PT1M"}}}`
	bus     = `{"type": "serviceBusSubscription", "serviceBusSubscription": {"connectionString": "hush", "topicName": "t", "subscriptionName": "s", "sessions": true}}`
	storage = `{"type": "storageQueue", "state": "disabled", "storageQueue": {"connectionString": "hush", "queueName": "orders"}}`
)

// TestRead reads one source of each type, and stores it.
func TestRead(t *testing.T) {
	vault := secrets.NewVault(secrets.Config{Keys: seal.NewKeyring(must.Get(seal.NewKey("a"))(t))})
	for _, text := range []string{
		hook, bus, storage,
		`{"type": "nats", "nats": {"subject": "orders.>"}}`,
		`{"type": "nats", "nats": {"stream": "ORDERS", "start": 42}, "labels": {"a": "b"}}`,
		`{"type": "nats", "nats": {"stream": "ORDERS", "start": "all", "subject": "orders.new"}}`,
		`{"type": "serviceBusQueue", "serviceBusQueue": {"connectionString": {"secretRef": "bus"}, "queueName": "q"}}`,
		`{"kind": "source", "name": "orders", "collection": "sales", "properties": ` + hook + `}`,
		`{"type": "webhook", "webhook": {"verify": {"type": "standard", "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"}, "tolerance": "PT1M", "challenge": "hub.challenge"}}`,
		`{"type": "webhook", "webhook": {"verify": {"type": "hmac", "secret": "s", "header": "X-Sig", "encoding": "base64", "prefix": "v0="}, "maxBytes": 100}}`,
		`{"type": "webhook", "webhook": {"verify": {"type": "basic", "user": "u", "password": "p"}}}`,
		`{"type": "webhook", "webhook": {"verify": {"type": "none"}, "rateLimit": {"requests": 1000}}}`,
	} {
		s, err := read(t, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		s = s.Replacing(nil, "uid", time.Now().UTC())
		data := must.Get(s.Encode(vault))(t)
		if bytes.Contains(data, []byte("hush")) {
			t.Errorf("the stored form shows a secret: %s", data)
		}
		again := must.Get(source.Decode(key, 7, data, vault))(t)
		if !again.Equals(s) || again.Revision != 7 || again.UID != "uid" {
			t.Errorf("%s: decoded as %s", text, again.Document())
		}
		other := scheduler.Key{Collection: "sales", Job: "other"}
		if moved := must.Get(source.Decode(other, 7, data, vault))(t); moved.Document().HasSecrets() {
			t.Errorf("%s: the secrets open under another name", text)
		}
	}
}

// storageOf returns a source of a storage queue.
func storageOf(queue string) string {
	return fmt.Sprintf(`{"type": "storageQueue", "storageQueue": {"connectionString": "x", "queueName": %q}}`, queue)
}

func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                              "type: is required",
		`{"type": "kafka"}`:               "type: ",
		`{"type": "webhook"}`:             "webhook: is required",
		`{"type": "webhook", "nats": {}}`: "nats: goes with the type nats, and this source has the type webhook",
		`{"type": "nats", "nats": {}}`:    "nats.subject: is required; or stream",
		`{"type": "nats", "nats": {"subject": "a..b"}}`:                                                                     "nats.subject: \"a..b\" is not a NATS subject",
		`{"type": "nats", "nats": {"subject": ">"}}`:                                                                        "nats.subject: must begin with a word",
		`{"type": "nats", "nats": {"subject": "a", "start": "all"}}`:                                                        "nats.start: goes with stream",
		`{"type": "webhook", "webhook": {"verify": {"type": "none"}}}`:                                                      "webhook.rateLimit: is required with verify.type none",
		`{"type": "webhook", "webhook": {"verify": {"type": "stripe", "secret": "x"}, "tolerance": "PT3M"}}`:                "webhook.tolerance: ",
		`{"type": "webhook", "webhook": {"verify": {"type": "standard", "secret": "whsec_c2hvcnQ="}}}`:                      "webhook.verify.secret: is not a secret of Standard Webhooks: 24 bytes",
		`{"type": "webhook", "webhook": {"verify": {"type": "github"}}}`:                                                    "webhook.verify.secret: is required",
		`{"type": "webhook", "webhook": {"verify": {"type": "github", "secret": "x", "user": "u"}}}`:                        "webhook.verify.user: unknown field",
		`{"type": "webhook", "webhook": {"verify": {"type": "standard", "secret": "no base64!"}}}`:                          "webhook.verify.secret: is not a secret of Standard Webhooks",
		`{"type": "webhook", "webhook": {"verify": {"type": "none"}, "rateLimit": {"requests": 1000}, "maxBytes": 100000}}`: "webhook.maxBytes: 100000 is not in 1-65536",
		`{"type": "serviceBusQueue", "serviceBusQueue": {"queueName": "q"}}`:                                                "serviceBusQueue.connectionString: is required",
		`{"type": "storageQueue", "storageQueue": {"connectionString": "s"}}`:                                               "storageQueue.queueName: is required",
		`{"name": "else", "type": "webhook", "webhook": {"verify": {"type": "none"}, "rateLimit": {"requests": 1000}}}`:     `name: is "else", but the source is put as "sales/orders"`,
		`{"kind": "job", "type": "webhook", "webhook": {"verify": {"type": "none"}, "rateLimit": {"requests": 1000}}}`:      "kind: ",
		storageOf("Orders"):                "storageQueue.queueName: has upper-case letters: write orders",
		storageOf("a/b"):                   "storageQueue.queueName: has '/' in it",
		storageOf(strings.Repeat("q", 57)): "storageQueue.queueName: has a length of 57, at most 56 are allowed",
		`{"type": "webhook", "webhook": {"verify": {"type": "token", "secret": "x", "header": "X Y"}}}`:                            "webhook.verify.header: \"X Y\" is not the name of an HTTP header",
		`{"type": "webhook", "webhook": {"verify": {"type": "hmac", "secret": "x"}, "rateLimit": {}}, "state": "on", "other": {}}`: "webhook.rateLimit.requests: is required",
	} {
		_, err := read(t, text)
		if !errors.Is(err, scheduler.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// TestPatched keeps secrets.
func TestPatched(t *testing.T) {
	for _, test := range []struct{ text, patch, want string }{
		{hook, `{"state": "disabled"}`, ""},
		{hook, `{"properties": {"webhook": {"maxBytes": 10}}}`, ""},
		{bus, `{"serviceBusSubscription": {"topicName": "other"}}`, ""},
		{hook, `{"webhook": {"verify": {"type": "none"}, "rateLimit": {"requests": 1000}}}`, "webhook.verify.secret: unknown field"},
		{hook, `{"webhook": {"verify": {"type": "none", "secret": null}, "rateLimit": {"requests": 1000}}}`, ""},
		{hook, `[]`, "must be an object"},
	} {
		s := must.Get(read(t, test.text))(t).Replacing(nil, "uid", time.Now())
		next, err := s.Patched(must.Get(document.Parse([]byte(test.patch)))(t), nil)
		switch {
		case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want %q", test.patch, err, test.want)
		case err == nil && strings.Contains(test.patch, "disabled") && next.State != scheduler.Disabled:
			t.Errorf("%s: the state is %s", test.patch, next.State)
		}
		if !s.Enabled() && test.text != storage {
			t.Error("a patch has changed the source it was merged into")
		}
	}
}

// TestMerge adds the counts of processes, and takes the latest of the rest.
func TestMerge(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	for _, test := range []struct{ a, b, want source.Status }{
		{},
		{source.Status{}, source.Status{Running: true, Lag: new(int64(2))}, source.Status{Running: true, Lag: new(int64(2))}},
		{
			source.Status{Received: 1, Refused: 2, Lag: new(int64(9)), LastEvent: at(1), LastError: "new", ErrorTime: at(4)},
			source.Status{Running: true, Received: 3, Refused: 4, Lag: new(int64(0)), LastEvent: at(2), LastError: "old", ErrorTime: at(3)},
			source.Status{Running: true, Received: 4, Refused: 6, Lag: new(int64(0)), LastEvent: at(2), LastError: "new", ErrorTime: at(4)},
		},
		{
			source.Status{Lag: new(int64(3)), LastEvent: at(1)},
			source.Status{Received: 1, LastEvent: at(2)},
			source.Status{Received: 1, Lag: new(int64(3)), LastEvent: at(2)},
		},
	} {
		for _, got := range []source.Status{test.a.Merge(test.b), test.b.Merge(test.a)} {
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%+v with %+v (-want +got):\n%s", test.a, test.b, diff)
			}
		}
	}
}
