package storagequeue_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/sas"

	"github.com/carillon-sched/carillon/actions/endpoint"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

// stamp is a time in a message of a result.
const stamp = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`

// TestPut puts messages and reads them back.
func TestPut(t *testing.T) {
	w := newWorld(t, emulator.Config{AutoCreate: true})
	for _, text := range []string{
		"My message body", "", " \t\r\n<&\"'>]]> \u2028 é 🦄 ", "\u0085", `{"a":1}`, strings.Repeat("x", 65536), strings.Repeat("<", 65536),
	} {
		result := w.post(members{"message": text})
		if result.Failed || result.Final || result.Status != http.StatusCreated || result.Response != "" || result.RetryAfter != 0 || result.Duration <= 0 {
			t.Errorf("%.40q: %+v", text, result)
		}
		if got := w.texts(); !slices.Equal(got, []string{text}) {
			t.Errorf("%.40q came as %.40q", text, got)
		}
	}
}

// TestRecord checks the recorded message against the message in the queue.
func TestRecord(t *testing.T) {
	w := newWorld(t, emulator.Config{AutoCreate: true})
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
	w := newWorld(t, emulator.Config{AutoCreate: true})
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
	w := newWorld(t, emulator.Config{AutoCreate: true})
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
	w := newWorld(t, emulator.Config{AutoCreate: true})
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

// TestToken forms that the emulator verifies.
func TestTokens(t *testing.T) {
	w := newWorld(t, emulator.Config{AutoCreate: true})
	account, err := sas.AccountSignatureValues{
		Protocol: sas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(time.Hour).UTC(), Permissions: "wa", ResourceTypes: "o",
	}.SignWithSharedKey(w.key)
	w.must(err)
	plain := w.sign(nil)
	for !strings.Contains(plain, "%2B") { // the signature with a plus, which a query takes for a space
		plain = w.sign(func(v *sas.QueueSignatureValues) {
			v.StartTime = time.Now().Add(-time.Duration(len(plain)) * time.Second).UTC()
		})
		if !strings.Contains(plain, "%2B") {
			plain = w.sign(func(v *sas.QueueSignatureValues) {
				v.ExpiryTime = v.ExpiryTime.Add(time.Duration(time.Now().Nanosecond()%100000) * time.Second)
			})
		}
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
	result := mustRead(t, w.actions, job(members{"sasToken": members{"secretRef": "queue"}})).Invoke(t.Context(), shared)
	if result.Failed {
		t.Errorf("shared: %s", result.Message)
	}
}

// TestRequest looks at the request itself.
func TestRequest(t *testing.T) {
	var got *http.Request
	client := serve(t, func(r *http.Request) (*http.Response, error) {
		got = r
		return answer(http.StatusServiceUnavailable, nil, ""), nil
	})
	action := mustRead(t, client, job(members{"timeToLive": "never", "visibilityDelay": "PT30S", "sasToken": "?sv=1&sig=a%2Bb"}))
	action.Invoke(t.Context(), attempt())
	want := "POST https://myaccount.queue.core.windows.net/myqueue/messages?messagettl=-1&sig=a%2Bb&sv=1&visibilitytimeout=30"
	if line := got.Method + " " + got.URL.String(); line != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
	if agent := got.UserAgent(); !strings.HasPrefix(agent, "Carillon azsdk-go-azqueue/") {
		t.Errorf("agent %s", agent)
	}
	if id := got.Header.Get("x-ms-client-request-id"); id != attempt().ID {
		t.Errorf("request id %s", id)
	}
}

// TestAccounts keeps apart queues that differ in one thing only, and posts to more queues than clients are kept.
func TestAccounts(t *testing.T) {
	server, err := emulator.Start(t.Context(), emulator.Config{Addr: "127.0.0.1:0", Keys: emulator.Lenient, AutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client := newClient(t, storagequeue.Config{Endpoints: endpoint.Map{Default: server.URL() + "/{name}"}})
	const many = 600
	for round := range 2 {
		for i := range many {
			changes := members{"queueName": fmt.Sprintf("queue%d", i/2), "storageAccount": fmt.Sprintf("account%d", i%2), "sasToken": fmt.Sprintf("TOKEN%d", round)}
			if result := mustRead(t, client, job(changes)).Invoke(t.Context(), attempt()); result.Failed ||
				!strings.Contains(result.Message, fmt.Sprintf("queue 'queue%d' of account 'account%d'", i/2, i%2)) {
				t.Fatal(result)
			}
		}
	}
}
