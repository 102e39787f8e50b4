package storagequeue_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// page sends a request of a browser's. Headers are "Name: value".
func page(t *testing.T, h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	h.ServeHTTP(w, r)
	return w
}

// TestForeignPages lets pages of other origins send what browsers ask no leave for. None gets to a queue, unless a CORS
// rule of the account is for it.
func TestForeignPages(t *testing.T) {
	h := open(t, storagequeue.Config{AutoCreate: true})
	const messages, body = "http://127.0.0.1/acc/orders/messages", "<QueueMessage><MessageText>x</MessageText></QueueMessage>"
	call(t, h, http.MethodPut, "http://127.0.0.1/acc/orders", "", http.StatusCreated)
	foreign := [][]string{
		{"Origin: https://evil.example"},
		{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"},
		{"Origin: null"},
		{"Sec-Fetch-Site: cross-site"},
		{"Sec-Fetch-Site: same-site"},
		{"Origin: http://127.0.0.1:8080"},
		{"Origin: http://localhost"},
	}
	call(t, h, http.MethodPost, messages, body, http.StatusCreated)
	for _, headers := range foreign {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			w := page(t, h, method, messages, body, append(headers, "Content-Type: text/plain")...)
			if w.Code != http.StatusForbidden || w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s of %q: %d %s", method, headers, w.Code, w.Body)
			}
		}
	}
	if w := call(t, h, http.MethodGet, messages+"?numofmessages=32", "", http.StatusOK); strings.Count(w.Body.String(), "<MessageId>") != 1 {
		t.Errorf("in the queue: %s", w.Body)
	}
	for _, headers := range [][]string{{"Origin: http://127.0.0.1", "Sec-Fetch-Site: same-origin"}, {"Sec-Fetch-Site: none"}, nil} {
		if w := page(t, h, http.MethodPost, messages, body, headers...); w.Code != http.StatusCreated {
			t.Errorf("%q: %d %s", headers, w.Code, w.Body)
		}
	}
	call(t, h, http.MethodPut, "http://127.0.0.1/acc?restype=service&comp=properties", "<StorageServiceProperties><Cors><CorsRule>"+
		"<AllowedOrigins>https://shop.example</AllowedOrigins><AllowedMethods>POST</AllowedMethods><AllowedHeaders>*</AllowedHeaders>"+
		"<ExposedHeaders>*</ExposedHeaders><MaxAgeInSeconds>1</MaxAgeInSeconds></CorsRule></Cors></StorageServiceProperties>", http.StatusAccepted)
	for origin, status := range map[string]int{"https://shop.example": http.StatusCreated, "https://evil.example": http.StatusForbidden} {
		if w := page(t, h, http.MethodPost, messages, body, "Origin: "+origin); w.Code != status {
			t.Errorf("%s: %d %s", origin, w.Code, w.Body)
		}
	}
	if w := page(t, h, http.MethodGet, messages, "", "Origin: https://shop.example"); w.Code != http.StatusForbidden {
		t.Errorf("a method that the rule does not name: %d %s", w.Code, w.Body)
	}
}

// TestRebinding lets a page whose name leads here put a message as if it were of this server's origin.
func TestRebinding(t *testing.T) {
	h := open(t, storagequeue.Config{AutoCreate: true, AllowHost: func(host string) bool { return host == "127.0.0.1" }})
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodOptions, http.MethodPut} {
		w := page(t, h, method, "http://evil.example/acc/orders/messages", "", "Origin: http://evil.example")
		if w.Code != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
	}
	call(t, h, http.MethodPut, "http://127.0.0.1/acc/orders", "", http.StatusCreated)
}

// TestMetrics shows what Prometheus reads, and that an account may have the name all the same.
func TestMetrics(t *testing.T) {
	handler := must.Get(storagequeue.Open(storagequeue.Config{Keys: storagequeue.Lenient}))(t)
	t.Cleanup(func() { _ = handler.Close() })
	do := func(method, target, body string) *httptest.ResponseRecorder {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, target, strings.NewReader(body)))
		return w
	}
	do(http.MethodPut, "/devstoreaccount1/orders", "")
	do(http.MethodPut, "/metrics/mine", "")
	for range 2 {
		if w := do(http.MethodPost, "/devstoreaccount1/orders/messages", "<QueueMessage><MessageText>x</MessageText></QueueMessage>"); w.Code != http.StatusCreated {
			t.Fatal(w.Body)
		}
	}
	do(http.MethodGet, "/devstoreaccount1/none", "")
	lines := strings.Split(do(http.MethodGet, "/metrics", "").Body.String(), "\n")
	for _, want := range []string{
		`carillon_emulator_storagequeue_messages{account="devstoreaccount1",queue="orders"} 2`,
		`carillon_emulator_storagequeue_messages{account="metrics",queue="mine"} 0`,
		`carillon_emulator_storagequeue_http_requests_total{code="201",method="post"} 2`,
		`carillon_emulator_storagequeue_http_requests_total{code="201",method="put"} 2`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no %s in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	if w := do(http.MethodGet, "/metrics?comp=list", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<Name>mine</Name>") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
