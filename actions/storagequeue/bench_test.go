package storagequeue_test

import (
	"fmt"
	"testing"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// lenient starts an emulator that takes any token.
func lenient(b *testing.B) *emulator.Server {
	b.Helper()
	server := must.Get(emulator.Start(b.Context(), emulator.Config{Addr: "127.0.0.1:0", Keys: emulator.Lenient, AutoCreate: true}))(b)
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
