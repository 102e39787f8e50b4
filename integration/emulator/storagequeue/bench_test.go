package storagequeue_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// storages are in memory and in a file.
func storages(b *testing.B, run func(b *testing.B, dir string)) {
	b.Helper()
	b.Run("memory", func(b *testing.B) { run(b, "") })
	b.Run("file", func(b *testing.B) { run(b, b.TempDir()) })
}

// BenchmarkSDK puts a message, gets and deletes it, with the SDK over loopback and signatures verified.
func BenchmarkSDK(b *testing.B) {
	storages(b, func(b *testing.B, dir string) {
		b.Helper()
		s := must.Get(storagequeue.Start(b.Context(), storagequeue.Config{Addr: "127.0.0.1:0", Data: dir}))(b)
		defer func() { _ = s.Close() }()
		transport := &http.Transport{MaxIdleConnsPerHost: 32}
		defer transport.CloseIdleConnections()
		q := must.Get(azqueue.NewQueueClientFromConnectionString(s.ConnectionString(), "orders", &azqueue.ClientOptions{
			ClientOptions: policy.ClientOptions{Transport: &http.Client{Transport: transport}},
		}))(b)
		must.Get(q.Create(b.Context(), nil))(b)
		text := strings.Repeat("x", 200)
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := q.EnqueueMessage(b.Context(), text, nil); err != nil {
					b.Error(err)
				}
				got, err := q.DequeueMessage(b.Context(), nil)
				if err != nil || len(got.Messages) != 1 {
					b.Error(len(got.Messages), err)
					continue
				}
				if _, err := q.DeleteMessage(b.Context(), *got.Messages[0].MessageID, *got.Messages[0].PopReceipt, nil); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
