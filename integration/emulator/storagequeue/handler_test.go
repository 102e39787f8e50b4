package storagequeue_test

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// open returns a handler of which nobody has to prove anything.
func open(t *testing.T, cfg storagequeue.Config) *storagequeue.Handler {
	t.Helper()
	cfg.Keys = storagequeue.Lenient
	h := must.Get(storagequeue.Open(cfg))(t)
	t.Cleanup(func() { must.Do(t, h.Close()) })
	return h
}

// call sends a request and checks the status.
func call(t *testing.T, h http.Handler, method, target, body string, status int) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body)))
	if w.Code != status {
		t.Fatalf("%s %s: got %d %s, want %d", method, target, w.Code, w.Body, status)
	}
	return w
}

// A message is what an answer says of one.
type message struct {
	MessageID       string `xml:"MessageId"`
	PopReceipt      string `xml:"PopReceipt"`
	TimeNextVisible string `xml:"TimeNextVisible"`
	ExpirationTime  string `xml:"ExpirationTime"`
	DequeueCount    int    `xml:"DequeueCount"`
	MessageText     string `xml:"MessageText"`
}

func (m message) url(query string) string {
	return "/acc/orders/messages/" + m.MessageID + "?popreceipt=" + url.QueryEscape(m.PopReceipt) + query
}

// messages reads an answer.
func messages(t *testing.T, w *httptest.ResponseRecorder) []message {
	t.Helper()
	var list struct {
		Messages []message `xml:"QueueMessage"`
	}
	must.Do(t, xml.Unmarshal(w.Body.Bytes(), &list))
	return list.Messages
}

func put(t *testing.T, h http.Handler, text, query string) {
	t.Helper()
	body := "<QueueMessage><MessageText>" + text + "</MessageText></QueueMessage>"
	if got := messages(t, call(t, h, http.MethodPost, "/acc/orders/messages"+query, body, http.StatusCreated)); len(got) != 1 {
		t.Fatalf("put answered %+v", got)
	}
}

func get(t *testing.T, h http.Handler, query string) []message {
	t.Helper()
	return messages(t, call(t, h, http.MethodGet, "/acc/orders/messages"+query, "", http.StatusOK))
}

// TestDefaults lets weeks pass.
func TestDefaults(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := open(t, storagequeue.Config{AutoCreate: true})
		put(t, h, "a week", "")
		put(t, h, "forever", "?messagettl=-1")
		put(t, h, "a day", "?messagettl=86400&visibilitytimeout=86399")
		want := func(query string, texts ...string) {
			t.Helper()
			got := get(t, h, query)
			var all []string
			for _, m := range got {
				all = append(all, m.MessageText)
			}
			if strings.Join(all, ",") != strings.Join(texts, ",") {
				t.Errorf("at %s: got %q, want %q", time.Now(), all, texts)
			}
		}
		want("?peekonly=true&numofmessages=32", "a week", "forever")
		want("", "a week")
		want("?numofmessages=32", "forever")
		time.Sleep(30*time.Second - 1)
		want("?numofmessages=32")
		time.Sleep(time.Nanosecond)
		want("?numofmessages=32", "a week", "forever")
		time.Sleep(24*time.Hour - 31*time.Second)
		want("?peekonly=true&numofmessages=32", "a week", "forever", "a day")
		time.Sleep(time.Second)
		want("?peekonly=true&numofmessages=32", "a week", "forever")
		time.Sleep(6 * 24 * time.Hour)
		want("?numofmessages=32&visibilitytimeout=604800", "forever")
		time.Sleep(7 * 24 * time.Hour)
		if got := get(t, h, ""); len(got) != 1 || got[0].DequeueCount != 4 || got[0].ExpirationTime != "Fri, 31 Dec 9999 23:59:59 GMT" {
			t.Errorf("got %+v", got)
		}
	})
}

// TestRenewal keeps a message hidden by updating it, as a worker does that needs long.
func TestRenewal(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := open(t, storagequeue.Config{AutoCreate: true})
		put(t, h, "slow", "")
		m := get(t, h, "?visibilitytimeout=60")[0]
		for range 10 {
			time.Sleep(50 * time.Second)
			w := call(t, h, http.MethodPut, m.url("&visibilitytimeout=60"), "", http.StatusNoContent)
			if got, want := w.Header().Get("X-Ms-Time-Next-Visible"), time.Now().Add(time.Minute).UTC().Format(http.TimeFormat); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			m.PopReceipt = w.Header().Get("X-Ms-Popreceipt")
			if others := get(t, h, ""); len(others) != 0 {
				t.Fatalf("another worker got %+v", others)
			}
		}
		call(t, h, http.MethodDelete, m.url(""), "", http.StatusNoContent)
	})
}

// slowReader needs a minute.
type slowReader struct{ io.Reader }

// Read is for the handler.
func (r slowReader) Read(b []byte) (int, error) {
	time.Sleep(time.Minute)
	return r.Reader.Read(b)
}

// TestSlowBody puts a message that takes long to arrive: its time begins when it is there.
func TestSlowBody(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := open(t, storagequeue.Config{AutoCreate: true})
		body := slowReader{strings.NewReader("<QueueMessage><MessageText>x</MessageText></QueueMessage>")}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/acc/orders/messages?messagettl=30", body))
		if w.Code != http.StatusCreated || len(get(t, h, "")) != 1 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}

func TestHosts(t *testing.T) {
	h := open(t, storagequeue.Config{})
	for _, test := range []struct {
		base, queue string
	}{
		{"http://127.0.0.1:10001/one", "by-path"},
		{"http://localhost/one", "by-path-too"},
		{"http://emulator.example.com/one", "by-path-of-name"},
		{"http://one.queue.core.windows.net", "by-host"},
		{"http://one.queue.localhost:10001", "by-local-host"},
		{"http://ONE.localhost:10001", "by-short-host"},
	} {
		call(t, h, http.MethodPut, test.base+"/"+test.queue, "", http.StatusCreated)
		body := call(t, h, http.MethodGet, test.base+"/?comp=list", "", http.StatusOK).Body.String()
		if !strings.Contains(body, "<Name>"+test.queue+"</Name>") || !strings.Contains(body, ` ServiceEndpoint="`+test.base) {
			t.Errorf("%s: got %s", test.base, body)
		}
	}
	body := call(t, h, http.MethodGet, "http://x/one?comp=list", "", http.StatusOK).Body.String()
	if got := strings.Count(body, "<Name>"); got != 6 {
		t.Errorf("the account has %d queues: %s", got, body)
	}
}

// TestWrongRequests has everything that is not a call of the service.
func TestWrongRequests(t *testing.T) {
	h := open(t, storagequeue.Config{})
	call(t, h, http.MethodPut, "/acc/orders", "", http.StatusCreated)
	for _, test := range []struct {
		method, target string
		status         int
		code           string
	}{
		{"GET", "/", 400, "InvalidUri"},
		{"GET", "/a_b/orders", 400, "InvalidUri"},
		{"GET", "/acc/orders/other/x", 400, "InvalidUri"},
		{"GET", "/acc/orders/messages/x/y", 400, "InvalidUri"},
		{"GET", "/acc/orders?comp=%zz", 400, "InvalidUri"},
		{"GET", "/acc", 400, "MissingRequiredQueryParameter"},
		{"GET", "/acc?comp=properties", 400, "MissingRequiredQueryParameter"},
		{"GET", "/acc?comp=properties&restype=account", 400, "InvalidQueryParameterValue"},
		{"POST", "/acc?comp=userdelegationkey&restype=service", 400, "InvalidQueryParameterValue"},
		{"POST", "/acc?comp=list", 405, "UnsupportedHttpVerb"},
		{"GET", "/acc/orders", 400, "MissingRequiredQueryParameter"},
		{"POST", "/acc/orders", 405, "UnsupportedHttpVerb"},
		{"PUT", "/acc/orders/messages", 405, "UnsupportedHttpVerb"},
		{"GET", "/acc/orders/messages/x", 405, "UnsupportedHttpVerb"},
		{"GET", "/acc/orders/messages?peekonly=maybe", 400, "InvalidQueryParameterValue"},
		{"GET", "/acc/orders/messages?numofmessages=99999999999999999999", 400, "OutOfRangeQueryParameterValue"},
		{"GET", "/acc-secondary/orders/messages", 403, "InsufficientAccountPermissions"},
		{"DELETE", "/acc/orders/messages/x", 400, "MissingRequiredQueryParameter"},
		{"OPTIONS", "/acc", 400, "InvalidHeaderValue"},
	} {
		w := call(t, h, test.method, test.target, "", test.status)
		if got := w.Header().Get("X-Ms-Error-Code"); got != test.code || !strings.Contains(w.Body.String(), "<Code>"+test.code+"</Code>") {
			t.Errorf("%s %s: got %s %s", test.method, test.target, got, w.Body)
		}
		if test.status == 405 && w.Header().Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", test.method, test.target)
		}
	}
}

func TestRequestHeaders(t *testing.T) {
	h := open(t, storagequeue.Config{})
	for _, test := range []struct {
		name, value, code string
		echo              string // header that repeats the value; "" for none
	}{
		{"X-Ms-Version", "2019-02-02", "", "X-Ms-Version"},
		{"X-Ms-Version", "latest", "InvalidHeaderValue", ""},
		{"X-Ms-Client-Request-Id", "mine", "", "X-Ms-Client-Request-Id"},
		{"X-Ms-Client-Request-Id", strings.Repeat("x", 1025), "", ""},
		{"X-Ms-Client-Request-Id", "\x7f", "", ""},
		{"X-Ms-Meta-", "x", "EmptyMetadataKey", ""},
		{"X-Ms-Meta-1a", "x", "InvalidMetadata", ""},
		{"X-Ms-Meta-A", "ä", "InvalidMetadata", ""},
		{"X-Ms-Meta-A", strings.Repeat("x", 8<<10), "MetadataTooLarge", ""},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/acc/orders", http.NoBody)
		r.Header[test.name] = []string{test.value}
		h.ServeHTTP(w, r)
		if got := w.Header().Get("X-Ms-Error-Code"); got != test.code {
			t.Errorf("%s: %.20q: got %s", test.name, test.value, got)
		}
		if got := w.Header().Get("X-Ms-Client-Request-Id"); test.echo == "" && got != "" {
			t.Errorf("%.20q was repeated", got)
		}
		if test.echo != "" && w.Header().Get(test.echo) != test.value {
			t.Errorf("%s: got %q", test.echo, w.Header().Get(test.echo))
		}
	}
}

func TestContentMD5(t *testing.T) {
	h := open(t, storagequeue.Config{AutoCreate: true})
	const body = "<QueueMessage><MessageText>x</MessageText></QueueMessage>"
	right, wrong := md5.Sum([]byte(body)), md5.Sum(nil)
	for sum, code := range map[string]string{
		base64.StdEncoding.EncodeToString(right[:]): "",
		base64.StdEncoding.EncodeToString(wrong[:]): "Md5Mismatch",
		"AAAA": "InvalidMd5",
		"?":    "InvalidMd5",
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/acc/orders/messages", strings.NewReader(body))
		r.Header.Set("Content-Md5", sum)
		h.ServeHTTP(w, r)
		if got := w.Header().Get("X-Ms-Error-Code"); got != code {
			t.Errorf("%s: got %q", sum, got)
		}
	}
}

func TestConfigProblems(t *testing.T) {
	_, err := storagequeue.Open(storagequeue.Config{Keys: 7, Accounts: map[string]string{"A_B": "AAAA", "bad": "?", "empty": ""}})
	for _, want := range []string{`"A_B"`, "the key of bad", "the key of empty", "keys: 7"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in: %v", want, err)
		}
	}
	if _, err := storagequeue.Open(storagequeue.Config{Data: "/dev/null/x"}); err == nil {
		t.Error("a folder that cannot be made was taken")
	}
}

// TestAccounts has accounts with keys of their own, which do not see each other's queues.
func TestAccounts(t *testing.T) {
	h := must.Get(storagequeue.Open(storagequeue.Config{Accounts: map[string]string{"mine": "AAAA"}}))(t)
	for account, want := range map[string]int{"mine": http.StatusUnauthorized, "devstoreaccount1": http.StatusNotFound} {
		call(t, h, http.MethodGet, "/"+account+"?comp=list", "", want)
	}
	anyone := open(t, storagequeue.Config{})
	call(t, anyone, http.MethodPut, "/one/orders", "", http.StatusCreated)
	if body := call(t, anyone, http.MethodGet, "/two?comp=list", "", http.StatusOK).Body.String(); strings.Contains(body, "orders") {
		t.Errorf("got %s", body)
	}
}

// FuzzRequest sends any request. None is a defect, and each that is refused says why.
func FuzzRequest(f *testing.F) {
	f.Add("PUT", "/acc/orders?comp=acl", "<SignedIdentifiers/>", "x")
	f.Add("POST", "/acc/orders/messages?messagettl=-1", "<QueueMessage><MessageText>x</MessageText></QueueMessage>", "")
	f.Add("GET", "/acc-secondary?comp=list&marker=/acc/a&include=metadata", "", "")
	f.Add("OPTIONS", "/acc/orders", "", "https://a.example")
	f.Add("PUT", "/acc?restype=service&comp=properties", "<StorageServiceProperties><Cors/></StorageServiceProperties>", "")
	f.Fuzz(func(t *testing.T, method, target, body, origin string) {
		h := must.Get(storagequeue.Open(storagequeue.Config{Keys: storagequeue.Lenient, AutoCreate: true}))(t)
		r, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+target, strings.NewReader(body))
		if err != nil {
			t.Skip(err)
		}
		r.Header.Set("Origin", origin)
		r.Header.Set("X-Ms-Meta-A", origin)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 || w.Code >= 400 && w.Header().Get("X-Ms-Error-Code") == "" {
			t.Errorf("%s %s: got %d %s", method, target, w.Code, w.Body)
		}
	})
}
