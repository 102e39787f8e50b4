package storagequeue_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

// lenient starts an emulator that takes any token.
func lenient(b *testing.B) *emulator.Server {
	b.Helper()
	server, err := emulator.Start(b.Context(), emulator.Config{Addr: "127.0.0.1:0", Keys: emulator.Lenient, AutoCreate: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Close() })
	return server
}

// BenchmarkInvoke runs attempts against an emulator in this process, so the emulator's work is part of each number.
func BenchmarkInvoke(b *testing.B) {
	for _, parallel := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("parallel=%d", parallel), func(b *testing.B) {
			client := storagequeue.New(storagequeue.Config{Endpoints: egress.Endpoints{Default: lenient(b).URL() + "/{name}"}})
			b.Cleanup(client.Close)
			action := mustRead(b, client, job(nil))
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

// BenchmarkInvokeAlone is the share of the action and the SDK: the transport answers without a network. In one case every
// attempt is to another queue, so that no client is there for it.
func BenchmarkInvokeAlone(b *testing.B) {
	const body = `<?xml version="1.0" encoding="utf-8"?><QueueMessagesList><QueueMessage><MessageId>1</MessageId>` +
		`<InsertionTime>Sun, 01 Mar 2026 09:30:00 GMT</InsertionTime><ExpirationTime>Sun, 08 Mar 2026 09:30:00 GMT</ExpirationTime>` +
		`<PopReceipt>x</PopReceipt><TimeNextVisible>Sun, 01 Mar 2026 09:30:00 GMT</TimeNextVisible></QueueMessage></QueueMessagesList>`
	for _, queues := range []int{1, 2000} {
		b.Run(fmt.Sprintf("queues=%d", queues), func(b *testing.B) {
			client := storagequeue.New(storagequeue.Config{Transport: tripper(func(*http.Request) (*http.Response, error) {
				return reply{http.StatusCreated, http.Header{"X-Ms-Request-Id": {"1"}, "Content-Type": {"application/xml"}}, body}.response(), nil
			})})
			actions := make([]func(), 0, queues)
			for i := range queues {
				action := mustRead(b, client, job(members{"queueName": fmt.Sprintf("queue%d", i)}))
				actions = append(actions, func() {
					if result := action.Invoke(b.Context(), attempt()); result.Failed {
						b.Error(result.Message)
					}
				})
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				actions[i%queues]()
			}
		})
	}
}

// BenchmarkReadAction is what a herd of jobs costs that were not cached, with the parsing of their text.
func BenchmarkReadAction(b *testing.B) {
	client := storagequeue.New(storagequeue.Config{})
	m := job(members{"sasToken": "sv=2020-02-10&se=9026-01-01T00%3A00%3A00Z&sp=raup&sig=pDuGuo7S1rN%2BgJRWN5oy2zc4rGWlkpqHLCRA4%2FUTVdU%3D"})
	b.ReportAllocs()
	for b.Loop() {
		mustRead(b, client, m)
	}
}
