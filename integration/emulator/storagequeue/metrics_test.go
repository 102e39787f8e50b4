package storagequeue_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

// TestMetrics shows what Prometheus reads, and that an account may have the name all the same.
func TestMetrics(t *testing.T) {
	handler, err := storagequeue.Open(storagequeue.Config{Keys: storagequeue.Lenient})
	if err != nil {
		t.Fatal(err)
	}
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
