package storagequeue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestSeed reads the sample of Azure Scheduler's documentation.
func TestSeed(t *testing.T) {
	action := mustRead(t, newClient(t, storagequeue.Config{}), members{
		"storageAccount": "myStorageAccount", "queueName": "myqueue", "sasToken": "TOKEN", "message": "My message body",
	})
	if got := action.Target(); got != "mystorageaccount.queue.core.windows.net" {
		t.Errorf("target %q", got)
	}
}

// TestTarget finds accounts, by name and by endpoint.
func TestTarget(t *testing.T) {
	mapped := egress.Endpoints{
		ByName:  map[string]string{"Far": "HTTPS://Far.Queue.example.com/", "broken": "ftp://x"},
		Default: "http://127.0.0.1:10001/{name}",
	}
	for _, test := range []struct {
		account    string
		endpoints  egress.Endpoints
		want, fail string
	}{
		{"abc", egress.Endpoints{}, "abc.queue.core.windows.net", ""},
		{"ABC", egress.Endpoints{}, "abc.queue.core.windows.net", ""},
		{"https://ABC.queue.core.windows.net/", egress.Endpoints{}, "abc.queue.core.windows.net", ""},
		{"https://abc.queue.core.windows.net", mapped, "abc.queue.core.windows.net", ""},
		{"Abc", mapped, "abc.queue.core.windows.net", ""},
		{"far", mapped, "far.queue.core.windows.net", ""},
		{"broken", mapped, "", "has an endpoint in the scheduler's configuration that must begin with https:// or http://"},
		{"http://127.0.0.1:10001/devstoreaccount1", mapped, "127.0.0.1:10001/devstoreaccount1", ""},
		{"http://[::1]:10001/devstoreaccount1/", egress.Endpoints{}, "[::1]:10001/devstoreaccount1", ""},
		{"https://abc.queue.core.usgovcloudapi.net", mapped, "abc.queue.core.usgovcloudapi.net", ""},
		{"https://queues.example.com", egress.Endpoints{}, "queues.example.com", ""},
	} {
		action, _, err := read(t, newClient(t, storagequeue.Config{Endpoints: test.endpoints}), job(members{"storageAccount": test.account}))
		if test.fail != "" {
			if want := "action.queueMessage.storageAccount: " + test.fail; lines(err) != want || action != nil {
				t.Errorf("%q: %v, %v\nwant %s", test.account, action, err, want)
			}
			continue
		}
		if err != nil || action.Target() != test.want {
			t.Errorf("%q: %v, %v, want %s", test.account, action, err, test.want)
		}
	}
}

// TestStored reads a job that was accepted before the configuration was broken. It stays readable, and says at its attempts
// what is wrong.
func TestStored(t *testing.T) {
	client := newClient(t, storagequeue.Config{Endpoints: egress.Endpoints{Default: "{name}:10001"}})
	v := must.Get(document.Parse([]byte(`{"queueMessage":{"storageAccount":"abc","queueName":"myqueue","sasToken":"TOKEN","message":"m"}}`)))(t)
	r := document.NewReader()
	r.Stored = true
	action := client.ReadAction("storagequeue", r.Object(v, ""))
	must.Do(t, r.Err())
	wantFailure(t, action.Invoke(t.Context(), attempt()), 0, false, "StorageQueue Action - Nothing sent to queue 'myqueue' of account 'abc': "+
		"the account has an endpoint in the scheduler's configuration that must begin with https:// or http://")
	if target := action.Target(); target != "abc.queue.core.windows.net" {
		t.Errorf("target %q", target)
	}
}

// TestRefused has one document for each message of validation.
func TestRefused(t *testing.T) { actiontest.CheckRefusals(t, newClient(t, storagequeue.Config{})) }

// TestAccepted has values at the edge of what is right.
func TestAccepted(t *testing.T) {
	client := newClient(t, storagequeue.Config{})
	for _, changes := range []members{
		{"message": ""},
		{"message": "{{.Job}}", "template": true},
		{"message": strings.Repeat("x", 65536)},
		{"message": strings.Repeat("x", 49152), "messageEncoding": "base64"},
		{"message": "\x00\x01", "messageEncoding": "base64"},
		{"message": "\ufffd\t\r\n"},
		{"queueName": "a-1"},
		{"queueName": strings.Repeat("q", 63)},
		{"timeToLive": "PT1S"},
		{"timeToLive": "P68Y"},
		{"timeToLive": -1, "visibilityDelay": "P7D"},
		{"timeToLive": "P7DT1S", "visibilityDelay": "P7D"},
		{"visibilityDelay": "PT0S"},
		{"visibilityDelay": "00:01:00"},
		{"sasToken": members{"secretRef": "queue"}},
	} {
		if _, _, err := read(t, client, job(changes)); err != nil {
			t.Errorf("%.80v: %v", changes, err)
		}
	}
}

// TestCanonical checks that a document that was read has the spellings of the reference, and hides its token.
func TestCanonical(t *testing.T) {
	_, v, err := read(t, newClient(t, storagequeue.Config{}), members{
		"STORAGEACCOUNT": "abc", "queuename": "myqueue", "SasToken": "TOKEN", "Message": "m", "TimeToLive": "NEVER", "messageencoding": "BASE64",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"action":{"queueMessage":{"message":"m","messageEncoding":"base64","queueName":"myqueue","storageAccount":"abc","timeToLive":"never"}}}`
	if got := sorted(v); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// sorted is the document with the members of queueMessage in order.
func sorted(v document.Value) string {
	action, _ := v.Member("action")
	inner, _ := action.Member("queueMessage")
	list := slices.Clone(inner.Members())
	slices.SortFunc(list, func(a, b document.Member) int { return strings.Compare(a.Name, b.Name) })
	inner = document.ObjectValue(document.Member{Name: "queueMessage", Value: document.ObjectValue(list...)})
	return document.ObjectValue(document.Member{Name: "action", Value: inner}).String()
}

// TestTokenExpiredLater reads jobs again whose token was right when they were put.
func TestTokenExpiredLater(t *testing.T) {
	client := newClient(t, storagequeue.Config{})
	const text = `{"action":{"queueMessage":{"storageAccount":"abc","queueName":"myqueue","message":"m","sasToken":` +
		`"sv=2020-02-10&se=2020-01-01&sp=a&sig=abcd"}}}`
	v := must.Get(document.Parse([]byte(text)))(t)
	for _, test := range []struct {
		stored bool
		want   string
	}{
		{true, ""},  // loaded from the store
		{false, ""}, // patched: its token is marked as the secret that it has
	} {
		r := document.NewReader()
		r.Stored = test.stored
		o, _ := r.Object(v, "").Object("action")
		if client.ReadAction("storagequeue", o) == nil || r.Err() != nil {
			t.Errorf("stored %t: %v", test.stored, r.Err())
		}
	}
}

// TestToken has texts that are taken for a token.
func TestToken(t *testing.T) {
	const sig = "pDuGuo7S1rN%2BgJRWN5oy2zc4rGWlkpqHLCRA4%2FUTVdU%3D"
	client := newClient(t, storagequeue.Config{})
	for _, token := range []string{
		"TOKEN", "?TOKEN", "TOKEN&", "sv=2020-02-10&se=9026-01-01T00%3A00%3A00Z&sp=raup&sig=" + sig, " \n?sv=2020-02-10&si=policy&sig=" + sig + "\n",
		"sv=2022-11-02&ss=bfqt&srt=sco&sp=rwdlacup&se=9026-01-01&sig=ab+/cd==",
	} {
		if _, _, err := read(t, client, job(members{"sasToken": token})); err != nil {
			t.Errorf("%s: %v", token, err)
		}
	}
}

// TestConfides has who is shown the secrets of an action.
func TestConfides(t *testing.T) {
	client := newClient(t, storagequeue.Config{})
	for account, want := range map[string]string{
		"myStorageAccount": "https://mystorageaccount.queue.core.windows.net", "http://127.0.0.1:10001/devstoreaccount1/": "http://127.0.0.1:10001/devstoreaccount1",
		"https://QUEUE.example.com": "https://queue.example.com",
	} {
		action := mustRead(t, client, members{"storageAccount": account, "queueName": "myqueue", "sasToken": "TOKEN", "message": "x"})
		if diff := cmp.Diff([]scheduler.Recipient{{Address: want}}, action.(scheduler.SecretDestination).Recipients()); diff != "" {
			t.Errorf("%s: %s", account, diff)
		}
	}
}
