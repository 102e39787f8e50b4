package storagequeue_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/sas"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/payload"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// stamp is a time in a message of a result.
const stamp = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`

// TestPut puts messages and reads them back.
func TestPut(t *testing.T) {
	w := newHarness(t, emulator.Config{AutoCreate: true})
	for _, text := range []string{
		"My message body", "", " \t\r\n<&\"'>]]> \u2028 é 🦄 ", "\u0085", `{"a":1}`, strings.Repeat("x", 65536), strings.Repeat("<", 65536),
	} {
		result := w.post(members{"message": text})
		if result.Failed || result.Final || result.Status != http.StatusCreated || result.Response != "" || result.RetryAfter != 0 {
			t.Errorf("%.40q: %+v", text, result)
		}
		if got := w.texts(); !slices.Equal(got, []string{text}) {
			t.Errorf("%.40q came as %.40q", text, got)
		}
	}
}

// TestRecord checks the recorded message against the message in the queue.
func TestRecord(t *testing.T) {
	w := newHarness(t, emulator.Config{AutoCreate: true})
	result := w.post(members{})
	want := regexp.MustCompile(`^StorageQueue Action - Message '([0-9a-f-]{36})' put into queue 'myqueue' of account 'myaccount' ` +
		`at (` + stamp + `), expires (` + stamp + `), request [0-9a-f-]{36}$`)
	match := want.FindStringSubmatch(result.Message)
	if match == nil {
		t.Fatalf("message %s", result.Message)
	}
	got := w.get()
	if len(got) != 1 || *got[0].MessageID != match[1] || got[0].InsertionTime.Format(time.RFC3339) != match[2] ||
		got[0].ExpirationTime.Format(time.RFC3339) != match[3] || got[0].ExpirationTime.Sub(*got[0].InsertionTime) != 7*24*time.Hour {
		t.Errorf("message %s, got %+v", result.Message, got)
	}
}

func TestTimeToLive(t *testing.T) {
	w := newHarness(t, emulator.Config{AutoCreate: true})
	for value, want := range map[any]time.Duration{
		"PT1H": time.Hour, "P68Y": 68 * 12 * 2_629_746 * time.Second, "P30D": 30 * 24 * time.Hour, "00:02:00": 2 * time.Minute,
	} {
		result := w.post(members{"timeToLive": value})
		got := w.get()
		if result.Failed || len(got) != 1 || got[0].ExpirationTime.Sub(*got[0].InsertionTime) != want {
			t.Errorf("%v: %+v, %+v", value, result, got)
		}
	}
	for _, value := range []any{"never", "Never", -1} {
		result := w.post(members{"timeToLive": value})
		got := w.get()
		if result.Failed || len(got) != 1 || got[0].ExpirationTime.Year() != 9999 || !strings.Contains(result.Message, ", never expires, request ") {
			t.Errorf("%v: %+v, %+v", value, result, got)
		}
	}
}

func TestVisibilityDelay(t *testing.T) {
	w := newHarness(t, emulator.Config{AutoCreate: true})
	result := w.post(members{"visibilityDelay": "PT1H"})
	if got := w.texts(); len(got) != 0 || result.Failed {
		t.Errorf("%+v; a hidden message came: %q", result, got)
	}
	match := regexp.MustCompile(` at (` + stamp + `), visible from (` + stamp + `), expires `).FindStringSubmatch(result.Message)
	if match == nil {
		t.Fatalf("message %s", result.Message)
	}
	inserted, err := time.Parse(time.RFC3339, match[1])
	w.must(err)
	visible, err := time.Parse(time.RFC3339, match[2])
	w.must(err)
	if visible.Sub(inserted) != time.Hour {
		t.Errorf("message %s", result.Message)
	}
	if result := w.post(members{"visibilityDelay": "PT0S"}); result.Failed || len(w.texts()) != 1 {
		t.Errorf("no delay: %+v", result)
	}
}

func TestEncoding(t *testing.T) {
	w := newHarness(t, emulator.Config{AutoCreate: true})
	const text = "\x00é"
	if result := w.post(members{"message": text, "messageEncoding": "base64"}); result.Failed {
		t.Error(result)
	}
	if result := w.post(members{"message": "é", "messageEncoding": "none"}); result.Failed {
		t.Error(result)
	}
	want := []string{base64.StdEncoding.EncodeToString([]byte(text)), "é"}
	if got := w.texts(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTokens has tokens in the forms in which people paste them; the emulator verifies them.
func TestTokens(t *testing.T) {
	w := newHarness(t, emulator.Config{AutoCreate: true})
	account, err := sas.AccountSignatureValues{
		Protocol: sas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(time.Hour).UTC(), Permissions: "wa", ResourceTypes: "o",
	}.SignWithSharedKey(w.key)
	w.must(err)
	plain := w.sign(nil)
	for i := 1; !strings.Contains(plain, "%2B"); i++ { // until the signature has a plus, which a query takes for a space
		plain = w.sign(func(v *sas.QueueSignatureValues) { v.ExpiryTime = v.ExpiryTime.Add(time.Duration(i) * time.Second) })
	}
	for name, token := range map[string]string{
		"plain": plain, "with ?": "?" + plain, "spaced": "  " + plain + "\r\n", "account's": account.Encode(),
		"unescaped plus": strings.ReplaceAll(plain, "%2B", "+"),
		"unescaped":      strings.NewReplacer("%2B", "+", "%2F", "/", "%3D", "=", "%3A", ":").Replace(plain),
	} {
		if result := w.post(members{"sasToken": token}); result.Failed {
			t.Errorf("%s: %s: %s", name, token, result.Message)
		}
	}
	shared := attempt()
	shared.Shared = func(name string) (string, error) { return map[string]string{"queue": "?" + plain + "\n"}[name], nil }
	result := actiontest.Invoke(t.Context(), mustRead(t, w.actions, job(members{"sasToken": members{"secretRef": "queue"}})), shared)
	if result.Failed {
		t.Errorf("shared: %s", result.Message)
	}
}

// TestRequest looks at the request itself.
func TestRequest(t *testing.T) {
	var got *http.Request
	client := serve(t, func(r *http.Request) (*http.Response, error) {
		got = r
		return reply{http.StatusServiceUnavailable, nil, ""}.response(), nil
	})
	action := mustRead(t, client, job(members{"timeToLive": "never", "visibilityDelay": "PT30S", "sasToken": "?sv=1&sig=a%2Bb"}))
	actiontest.Invoke(t.Context(), action, attempt())
	want := "POST https://myaccount.queue.core.windows.net/myqueue/messages?messagettl=-1&sig=a%2Bb&sv=1&visibilitytimeout=30"
	if line := got.Method + " " + got.URL.String(); line != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
	if agent := got.UserAgent(); !strings.HasPrefix(agent, "Carillon azsdk-go-azqueue/") {
		t.Errorf("agent %s", agent)
	}
	if id := got.Header.Get("x-ms-client-request-id"); id != payload.Identify(attempt()).RequestID {
		t.Errorf("request id %s", id)
	}
}

// TestAccounts keeps apart queues that differ in one thing only.
func TestAccounts(t *testing.T) {
	server := must.Get(emulator.Start(t.Context(), emulator.Config{Addr: "127.0.0.1:0", Keys: emulator.Lenient, AutoCreate: true}))(t)
	defer func() { _ = server.Close() }()
	client := newClient(t, storagequeue.Config{Endpoints: egress.Endpoints{Default: server.URL() + "/{name}"}})
	const many = 20
	for round := range 2 {
		for i := range many {
			changes := members{"queueName": fmt.Sprintf("queue%d", i/2), "storageAccount": fmt.Sprintf("account%d", i%2), "sasToken": fmt.Sprintf("TOKEN%d", round)}
			if result := actiontest.Invoke(t.Context(), mustRead(t, client, job(changes)), attempt()); result.Failed ||
				!strings.Contains(result.Message, fmt.Sprintf("queue 'queue%d' of account 'account%d'", i/2, i%2)) {
				t.Fatal(result)
			}
		}
	}
}

// TestAzureEnvelope: what Azure Scheduler's consumers read is in base64 unless the job says otherwise.
func TestAzureEnvelope(t *testing.T) {
	w := newHarness(t, emulator.Config{AutoCreate: true})
	for _, encoding := range []any{nil, "base64", "none"} {
		result := w.post(members{"message": "a < b", "envelope": "azurescheduler", "messageEncoding": encoding})
		got := w.texts()
		if result.Failed || len(got) != 1 {
			t.Fatalf("%v: %+v, %q", encoding, result, got)
		}
		if encoding != "none" {
			raw, err := base64.StdEncoding.DecodeString(got[0])
			w.must(err)
			got[0] = string(raw)
		}
		if !strings.HasPrefix(got[0], `<?xml version="1.0" encoding="utf-16"?>`) || !strings.Contains(got[0], "<Message>a &lt; b</Message>") {
			t.Errorf("%v: got %s", encoding, got[0])
		}
	}
}

// TestTemplate makes texts of templates, some of which no queue takes.
func TestTemplate(t *testing.T) {
	w := newHarness(t, emulator.Config{AutoCreate: true})
	const nothing = "StorageQueue Action - Nothing sent to queue 'myqueue' of account 'myaccount': the message "
	long := strings.Repeat("x", 8000)
	for _, test := range []struct {
		template, encoding, want string
		status                   int
		failure                  string
	}{
		{`{{.Job}} {{.Attempt}}`, "none", "default/nightly 2", 0, ""},
		{`{{.Job}}`, "base64", "ZGVmYXVsdC9uaWdodGx5", 0, ""},
		{`{{"\u0001"}}`, "base64", "AQ==", 0, ""},
		{`x{{"\u0001"}}`, "none", "", 400, "has the character U+0001 at byte 1, which XML cannot carry: use messageEncoding base64"},
		{`{{"` + strings.Repeat(long, 7) + `"}}`, "base64", "", 413, "is 74668 bytes long in base64, at most 65536 are allowed"},
	} {
		result := w.post(members{"template": true, "message": test.template, "messageEncoding": test.encoding})
		if test.failure != "" {
			wantFailure(t, result, test.status, true, nothing+test.failure)
		} else if result.Failed {
			t.Errorf("%s: %+v", test.template, result)
		}
		if got := w.texts(); len(got) > 1 || test.failure == "" && !slices.Equal(got, []string{test.want}) || test.failure != "" && len(got) != 0 {
			t.Errorf("%.80s: got %q, want %q", test.template, got, test.want)
		}
	}
}

// TestProxyIsNotAskedForInnerAddresses has accounts at inner addresses.
func TestProxyIsNotAskedForInnerAddresses(t *testing.T) {
	trap, touched := actiontest.Trap(t)
	client := newClient(t, storagequeue.Config{Guard: egress.NewGuard(), Proxy: &url.URL{Scheme: "http", Host: "127.0.0.1:" + trap}})
	actiontest.CheckGuarded(t, actiontest.InnerHosts, func(host, port string) (scheduler.Action, error) {
		action, _, err := read(t, client, job(members{"storageAccount": "http://" + host + ":" + port + "/devstoreaccount1"}))
		return action, err
	})
	if n := touched(); n != 0 {
		t.Errorf("the proxy was asked %d times", n)
	}
}
