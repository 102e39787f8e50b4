//go:build unix

package natsapi_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// BenchmarkIngest takes in new jobs while they are published, with server,
// publisher and scheduler in one process. It reports specs per second from the
// first publish to the last result, and the processor time of all three.
func BenchmarkIngest(b *testing.B) {
	benchmarkIngest(b, "accepted", `{"startTime":"2099-01-01T00:00:00Z","recurrence":{"frequency":"hour","interval":1},`+action+`}`)
}

func benchmarkIngest(b *testing.B, verdict, body string) {
	b.Helper()
	w := newHarness(b)
	w.ingest()
	done := make(chan struct{})
	seen, wrong := 0, 0
	sub := must.Get(w.nc.Subscribe("carillon.spec-result.>", func(m *nats.Msg) {
		if !strings.Contains(m.Subject, "."+verdict+".") {
			wrong++
		}
		seen++
		if seen == b.N {
			close(done)
		}
	}))(b)
	_ = sub.SetPendingLimits(-1, -1)
	b.ResetTimer()
	begin, busy := time.Now(), processorTime()
	for i := range b.N {
		m := &nats.Msg{Subject: fmt.Sprintf("carillon.spec.put.default.j%d", i), Data: []byte(body)}
		must.Get(w.js.PublishMsgAsync(m))(b)
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
		b.Fatalf("only %d of %d results", seen, b.N)
	}
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "specs/s")
	b.ReportMetric(float64((processorTime()-busy).Microseconds())/float64(b.N), "cpu-µs/spec")
	if wrong > 0 {
		b.Errorf("%d are not %s", wrong, verdict)
	}
}

// processorTime is what this process has used, of all processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkIngestRejected is the same with specs that are no jobs.
func BenchmarkIngestRejected(b *testing.B) { benchmarkIngest(b, "rejected", `{"no":"job",`+action+`}`) }

// BenchmarkIngestSecrets is the same with a secret in every spec.
func BenchmarkIngestSecrets(b *testing.B) {
	benchmarkIngest(b, "accepted", `{"startTime":"2099-01-01T00:00:00Z","action":{"type":"Http","request":{"uri":"http://target.example/hook","method":"POST",
		"authentication":{"type":"Basic","username":"me","password":"`+secret+`"}}}}`)
}
