package storagequeue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
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

func TestMissing(t *testing.T) {
	client := newClient(t, storagequeue.Config{})
	for text, want := range map[string]string{
		`{}`: "action.queueMessage: is required",
		`{"queueMessage":{}}`: "action.queueMessage.storageAccount: is required\naction.queueMessage.queueName: is required\n" +
			"action.queueMessage.sasToken: is required\naction.queueMessage.message: is required",
		`{"queueMessage":"x"}`: "action.queueMessage: must be an object, not a string",
	} {
		action, _, err := actiontest.Read(t, client, "StorageQueue", text)
		if diff := cmp.Diff(want, lines(err)); diff != "" || action != nil {
			t.Errorf("%s: action %v (-want +got)\n%s", text, action, diff)
		}
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
		{"", egress.Endpoints{}, "", "has a length of 0: an account's name has 3 to 24 letters and digits"},
		{"ab", egress.Endpoints{}, "", "has a length of 2: an account's name has 3 to 24 letters and digits"},
		{"my-account", egress.Endpoints{}, "", "has '-' in it: an account's name has 3 to 24 letters and digits and nothing else; " +
			"an endpoint begins with http:// or https://"},
		{"ünder", egress.Endpoints{}, "", "has 'ü' in it: an account's name has 3 to 24 letters and digits and nothing else; " +
			"an endpoint begins with http:// or https://"},
		{"abc.queue.core.windows.net", egress.Endpoints{}, "", "is a host name: write the account's name alone, abc, or https://abc.queue.core.windows.net"},
		{"http://abc.queue.core.windows.net", egress.Endpoints{}, "", "must be https://abc.queue.core.windows.net: " +
			"over http, the network sees the signature"},
		{"https://abc-secondary.queue.core.windows.net", egress.Endpoints{}, "", "is the secondary of the account, which takes no messages"},
		{"https://a-c.queue.core.windows.net", egress.Endpoints{}, "", "has '-' in it: an account's name has 3 to 24 letters and digits and nothing else; " +
			"an endpoint begins with http:// or https://"},
		{"https://abc.queue.core.windows.net/orders", egress.Endpoints{}, "", "has a path: write https://abc.queue.core.windows.net, " +
			"and the queue in queueName"},
		{"https://abc.blob.core.windows.net", egress.Endpoints{}, "", "is not where queues are: write https://abc.queue.core.windows.net, or abc alone"},
		{"http://127.0.0.1:10001", egress.Endpoints{}, "", "does not name the account: write http://127.0.0.1:10001/devstoreaccount1 or the like"},
		{"http://azurite:10001/", egress.Endpoints{}, "", "does not name the account: write http://azurite:10001/devstoreaccount1 or the like"},
		{"http://azurite:10001/a/b", egress.Endpoints{}, "", "has a path that is not an account's name: write http(s)://host:port/account, and the queue in queueName"},
		{"ftp://azurite/a", egress.Endpoints{}, "", "must begin with https:// or http://"},
		{"http:///a", egress.Endpoints{}, "", "has no host"},
		{"http://azurite:x/a", egress.Endpoints{}, "", `is not a URL: invalid port after host`},
		{"http://127.1:10001/abc", egress.Endpoints{}, "", "has a host that is neither a name nor an address in its usual form"},
		{"http://0X7f000001/abc", egress.Endpoints{}, "", "has a host that is neither a name nor an address in its usual form"},
		{"http://secret@azurite/a", egress.Endpoints{}, "", "must not hold a user name: what gives access is sasToken"},
		{"https://abc.queue.core.windows.net/?sig=secret", egress.Endpoints{}, "", "has a query: write the endpoint up to the ?, " +
			"and a shared access signature in sasToken"},
		{"AccountName=abc;AccountKey=secret", egress.Endpoints{}, "", "is a connection string: write only the name of the account, " +
			"and a shared access signature in sasToken"},
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
	v, err := document.Parse([]byte(`{"queueMessage":{"storageAccount":"abc","queueName":"myqueue","sasToken":"TOKEN","message":"m"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := document.NewReader()
	r.Stored = true
	action := client.ReadAction("storagequeue", r.Object(v, ""))
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, action.Invoke(t.Context(), attempt()), 0, false, "StorageQueue Action - Nothing sent to queue 'myqueue' of account 'abc': "+
		"the account has an endpoint in the scheduler's configuration that must begin with https:// or http://")
	if target := action.Target(); target != "abc.queue.core.windows.net" {
		t.Errorf("target %q", target)
	}
}

// TestRefused has one member wrong at a time.
func TestRefused(t *testing.T) {
	const rule = "a queue's name has 3 to 63 lower-case letters, digits and single dashes between them"
	client := newClient(t, storagequeue.Config{})
	for _, test := range []struct {
		member string
		value  any
		want   string
	}{
		{"storageAccount", 7, "must be a string, not a number"},
		{"queueName", "My-Queue", "has upper-case letters: write my-queue"},
		{"queueName", "my_queue", "has '_' in it: " + rule},
		{"queueName", "q/é", "has '/' in it: " + rule},
		{"queueName", "ab", "has a length of 2: " + rule},
		{"queueName", strings.Repeat("q", 64), "has a length of 64: " + rule},
		{"queueName", "-abc", "begins or ends with a dash: " + rule},
		{"queueName", "abc-", "begins or ends with a dash: " + rule},
		{"queueName", "a--b", "has two dashes together: " + rule},
		{"timeToLive", "PT0S", "PT0S is not between PT1S and P24855DT3H14M7S"},
		{"timeToLive", "P70Y", "P70Y is not between PT1S and P24855DT3H14M7S"},
		{"timeToLive", "PT1.5S", "PT1.5S is not a whole number of seconds"},
		{"timeToLive", -2, "must be a duration such as PT1H, or never"},
		{"timeToLive", true, "must be a duration such as PT1H, or never"},
		{"visibilityDelay", "P8D", "P8D is not between PT0S and P7D"},
		{"visibilityDelay", "P7D", "must be shorter than timeToLive, which is P7D: the message would never be seen"},
		{"messageEncoding", "gzip", `"gzip" is not one of none, base64`},
		{"message", "a\x00b", "has the character U+0000 at byte 1, which XML cannot carry: use messageEncoding base64"},
		{"message", "\uffff", "has the character U+FFFF at byte 0, which XML cannot carry: use messageEncoding base64"},
		{"message", strings.Repeat("x", 65537), "is 65537 bytes long, at most 65536 are allowed"},
		{"message", strings.Repeat("é", 32769), "is 65538 bytes long, at most 65536 are allowed"},
		{"message", 7, "must be a string, not a number"},
	} {
		action, _, err := read(t, client, job(members{test.member: test.value}))
		if want := "action.queueMessage." + test.member + ": " + test.want; lines(err) != want || action != nil {
			t.Errorf("%s %.80v: %v, %v\nwant %s", test.member, test.value, action, err, want)
		}
	}
}

// TestRefusedTogether has members that are wrong only beside others.
func TestRefusedTogether(t *testing.T) {
	client := newClient(t, storagequeue.Config{})
	for want, changes := range map[string]members{
		"visibilityDelay: must be shorter than timeToLive, which is PT1M: the message would never be seen": {"timeToLive": "PT1M", "visibilityDelay": "PT1M"},
		"message: is 65540 bytes long in base64, at most 65536 are allowed":                                {"messageEncoding": "BASE64", "message": strings.Repeat("x", 49153)},
		`massage: unknown field; did you mean "message"?`:                                                  {"massage": "x"},
	} {
		if action, _, err := read(t, client, job(changes)); lines(err) != "action.queueMessage."+want || action != nil {
			t.Errorf("%v, %v\nwant %s", action, err, want)
		}
	}
}

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
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
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

// TestToken has texts in place of a token. None of them may be in the problem.
func TestToken(t *testing.T) {
	const sig = "pDuGuo7S1rN%2BgJRWN5oy2zc4rGWlkpqHLCRA4%2FUTVdU%3D"
	client := newClient(t, storagequeue.Config{})
	for _, test := range []struct{ token, want string }{
		{"TOKEN", ""},
		{"?TOKEN", ""},
		{"sv=2020-02-10&se=9026-01-01T00%3A00%3A00Z&sp=raup&sig=" + sig, ""},
		{"?sv=2020-02-10&se=2020-01-01T00:00:00Z&sp=a&sig=" + sig, "expired at 2020-01-01T00:00:00Z"},
		{"sv=2020-02-10&se=2020-01-01&sp=a&sig=" + sig, "expired at 2020-01-01T00:00:00Z"},
		{"TOKEN&", ""},
		{" \n?sv=2020-02-10&si=policy&sig=" + sig + "\n", ""},
		{"sv=2022-11-02&ss=bfqt&srt=sco&sp=rwdlacup&se=9026-01-01&sig=ab+/cd==", ""},
		{"", "is empty"},
		{"?", "is empty"},
		{emulator.DefaultKey, "is the key of the account, which may do everything: " +
			"make a shared access signature with it that may add messages, and write that"},
		{
			"DefaultEndpointsProtocol=https;AccountName=abc;AccountKey=" + emulator.DefaultKey,
			"is a connection string: write only the shared access signature, sv=…&sig=…",
		},
		{"BlobEndpoint=https://abc/;SharedAccessSignature=sv=1&sig=" + sig, "is a connection string: write only the shared access signature, sv=…&sig=…"},
		{"https://abc.queue.core.windows.net/q?sv=2020-02-10&sig=" + sig, "is a URL: write only what follows its ?"},
		{"sv=2020-02-10&amp;sig=" + sig, "is escaped for HTML: write & for &amp;"},
		{"sv=2020-02-10 &sig=" + sig, "has a space, a quote or another character that no query string has"},
		{`"sv=2020-02-10&sig=` + sig + `"`, "has a space, a quote or another character that no query string has"},
		{"sv=2020-02-10&sig=abc%2", "has a % without two hexadecimal digits after it"},
		{"sv=2020-02-10&sig=ab%252Bcd%253D", "is escaped twice: its sig still has a % when it is unescaped"},
		{"%%%zz&&==", "has a % without two hexadecimal digits after it"},
		{"TOKEN%", "has a % without two hexadecimal digits after it"},
		{"TOKEN&==", "has a value without a name before its ="},
		{"sig=", "has an empty sig, which is the signature"},
		{"sv=2020-02-10&sp=a&%73ig=", "has an empty sig, which is the signature"},
		{"sv=2020-02-10&sp=a", "has no sig, which is the signature"},
		{"sv=2020-02-10&sp=rup&sig=" + sig, "does not permit adding messages: its sp=rup has no a"},
		{"sv=2020-02-10&sp=r%0A%C3%A9" + strings.Repeat("x", 20) + "&sig=" + sig, "does not permit adding messages: its sp=rxxxxxxxxxxxxxxx has no a"},
		{"sv=2020-02-10&ss=b&srt=o&sp=a&sig=" + sig, "is not for queues: its ss=b has no q"},
		{"sv=2020-02-10&ss=q&srt=sc&sp=a&sig=" + sig, "is not for messages: its srt=sc has no o"},
	} {
		_, _, err := read(t, client, job(members{"sasToken": test.token}))
		want := test.want
		if want != "" {
			want = "action.queueMessage.sasToken: " + want
		}
		if got := lines(err); got != want {
			t.Errorf("%s: %s\nwant %s", test.token, got, want)
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
