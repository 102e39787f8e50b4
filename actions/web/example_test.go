package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// A job's action is read once and run for each attempt.
func Example() {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"))
		w.WriteHeader(http.StatusAccepted)
	}))
	defer target.Close()

	client := web.New(web.Config{Version: "1.0.0"})
	defer client.Close()
	registry := actions.New(client)

	job, err := document.Parse([]byte(strings.ReplaceAll(`{
		"type": "Http",
		"request": {"uri": "TARGET/orders/sync", "method": "post", "body": "{}"}
	}`, "TARGET", target.URL)))
	if err != nil {
		fmt.Println(err)
		return
	}
	reader := document.NewReader()
	action := registry.ReadAction("http", reader.Object(job, "action"))
	if err := reader.Err(); err != nil {
		fmt.Println(err)
		return
	}
	result := action.Invoke(context.Background(), scheduler.Attempt{
		Job:        scheduler.Key{Collection: "default", Job: "sync"},
		Occurrence: "default/sync@2026-03-01T09:30:00Z",
		ID:         "default/sync@2026-03-01T09:30:00Z#1",
		Nominal:    time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC),
		Try:        1,
		Key:        "default/sync@2026-03-01T09:30:00Z",
		Timeout:    time.Minute,
	})
	fmt.Println(result.Status, result.Failed)
	// Output:
	// POST /orders/sync default/sync@2026-03-01T09:30:00Z
	// 202 false
}
