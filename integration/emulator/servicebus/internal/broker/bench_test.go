package broker_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// kilobyte is a message with a body of that size, as the Go SDK sends it.
func kilobyte(tb testing.TB) []byte {
	tb.Helper()
	raw := amqp.AppendProperties(nil, amqp.Properties{MessageID: "0123456789abcdef0123456789abcdef", Subject: "label", ContentType: "text/plain"})
	raw = amqp.AppendApplicationProperties(raw, amqp.Map{{Key: "n", Value: int64(5)}})
	return amqp.AppendData(raw, make([]byte, 1024))
}

// storages are in memory and in a file.
func storages(b *testing.B, f func(b *testing.B, config broker.Config)) {
	b.Helper()
	b.Run("memory", func(b *testing.B) { f(b, broker.Config{}) })
	b.Run("file", func(b *testing.B) { f(b, broker.Config{Dir: b.TempDir()}) })
}

// sendOne sends as the protocol does: a copy of what came, parsed.
func sendOne(b *testing.B, to *broker.Target, raw []byte, batch []amqp.Message) broker.Receipt {
	b.Helper()
	m := must.Get(amqp.ParseMessage(append([]byte(nil), raw...)))(b)
	batch[0] = m
	return must.Get(to.Send(batch, nil))(b)
}

func BenchmarkSend(b *testing.B) {
	storages(b, func(b *testing.B, config broker.Config) {
		b.Helper()
		bus, stop := start(b, config)
		defer stop()
		must.Get(bus.CreateQueue("q", broker.Options{DefaultTTL: time.Hour}))(b)
		to, raw, batch := target(b, bus, "q"), kilobyte(b), make([]amqp.Message, 1)
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			receipt := sendOne(b, to, raw, batch)
			n++
			if n%1000 == 0 {
				must.Do(b, receipt.Wait())
			}
			if n%100_000 == 0 { // keep the memory of the machine
				b.StopTimer()
				if _, _, err := source(b, bus, "q").Delete(1<<30, time.Time{}); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		}
	})
}

// BenchmarkConfirmedSend has 64 senders that each wait until their message is written.
func BenchmarkConfirmedSend(b *testing.B) {
	bus, stop := start(b, broker.Config{Dir: b.TempDir()})
	defer stop()
	must.Get(bus.CreateQueue("q", broker.Options{}))(b)
	to, raw := target(b, bus, "q"), kilobyte(b)
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		batch := make([]amqp.Message, 1)
		for pb.Next() {
			if err := sendOne(b, to, raw, batch).Wait(); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkReceiveComplete has 100,000 messages waiting, of which 100 are locked at a time.
func BenchmarkReceiveComplete(b *testing.B) {
	bus, stop := start(b, broker.Config{})
	defer stop()
	must.Get(bus.CreateQueue("q", broker.Options{DefaultTTL: time.Hour}))(b)
	to, raw, batch := target(b, bus, "q"), kilobyte(b), make([]amqp.Message, 1)
	r := receive(b, bus, "q", broker.ReceiverConfig{})
	var buf []byte
	var tokens []amqp.UUID
	b.ReportAllocs()
	left := 0
	for b.Loop() {
		if left == 0 {
			b.StopTimer()
			for left = range 100_000 {
				sendOne(b, to, raw, batch)
			}
			b.StartTimer()
		}
		left--
		r.SetCredit(100)
		d, ok := r.Next(buf)
		if !ok {
			b.Fatal("no message")
		}
		buf = d.Payload
		if tokens = append(tokens, d.Token); len(tokens) == 100 {
			for _, token := range tokens {
				must.Get(r.source.Settle(token, broker.Outcome{}, nil))(b)
			}
			tokens = tokens[:0]
		}
	}
}

func BenchmarkTopic(b *testing.B) {
	bus, stop := start(b, broker.Config{})
	defer stop()
	must.Get(bus.CreateTopic("t", broker.Options{}))(b)
	var receivers []*client
	for _, name := range []string{"a", "b", "c", "d"} {
		subscribe(b, bus, name, broker.Options{}, broker.Rule{Name: "r", Filter: sql(b, "sys.Label = 'label' AND n > 3")})
		receivers = append(receivers, receive(b, bus, "t/Subscriptions/"+name, broker.ReceiverConfig{Mode: broker.ReceiveAndDelete}))
	}
	to, raw, batch := target(b, bus, "t"), kilobyte(b), make([]amqp.Message, 1)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		sendOne(b, to, raw, batch)
		for _, r := range receivers {
			r.SetCredit(1)
			d, ok := r.Next(buf)
			if !ok {
				b.Fatal("no message")
			}
			buf = d.Payload
		}
	}
}

// BenchmarkMemory reports what a waiting message costs beyond its bytes.
func BenchmarkMemory(b *testing.B) {
	raw := kilobyte(b)
	for b.Loop() {
		bus := broker.New(broker.Config{})
		must.Get(bus.CreateQueue("q", broker.Options{DefaultTTL: time.Hour}))(b)
		to, batch := target(b, bus, "q"), make([]amqp.Message, 1)
		var before, after runtime.MemStats
		runtime.GC() //nolint:revive // what is garbage does not count
		runtime.ReadMemStats(&before)
		for range 100_000 {
			sendOne(b, to, raw, batch)
		}
		runtime.GC() //nolint:revive // what is garbage does not count
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/100_000-float64(len(raw)), "overhead-B/message")
		runtime.KeepAlive(bus)
	}
}
