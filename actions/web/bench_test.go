package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/web"
)

const benchBody = `{"order":"4711","amount":12.5}`

// sink answers every request with a short text.
func sink(b *testing.B) *httptest.Server {
	b.Helper()
	answer := []byte("ok")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(answer)
	}))
	b.Cleanup(server.Close)
	return server
}

// BenchmarkInvoke runs attempts against a sink in this process, so the sink's
// work is part of each number.
func BenchmarkInvoke(b *testing.B) {
	for _, parallel := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("parallel=%d", parallel), func(b *testing.B) {
			client := web.New(web.Config{Version: "1", Region: "here"})
			b.Cleanup(client.Close)
			action := mustRead(b, client, "Http", fmt.Sprintf(`{"uri":%q,"method":"POST","body":%q}`, sink(b).URL, benchBody))
			b.ReportAllocs()
			b.SetParallelism(parallel)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if result := action.Invoke(b.Context(), attempt()); result.Failed {
						b.Error(result.Message)
					}
				}
			})
		})
	}
}

// BenchmarkInvokeAlone is the share of the action itself: its transport
// answers without a network.
func BenchmarkInvokeAlone(b *testing.B) {
	header := http.Header{"Content-Type": {"text/plain"}, "Date": {"Sun, 01 Mar 2026 09:30:00 GMT"}, "Content-Length": {"2"}}
	client := web.New(web.Config{Transport: tripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader("ok"))}, nil
	})})
	action := mustRead(b, client, "Http", fmt.Sprintf(`{"uri":"http://example.com/","method":"POST","body":%q}`, benchBody))
	b.ReportAllocs()
	for b.Loop() {
		action.Invoke(b.Context(), attempt())
	}
}
