package worker_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// stored is all that an earlier version had written when its process died, each
// message of each stream, and what it showed of that. A file of it is never made
// anew: it says what was stored once.
type stored struct {
	Version string         `json:"version"` // commit of the version that wrote it
	Taken   time.Time      `json:"taken"`   // when its process died
	Key     string         `json:"key"`     // what secrets are sealed with
	Streams []storedStream `json:"streams"`
	Views   []storedView   `json:"views"`
}

// storedStream is a stream with its consumers and messages.
type storedStream struct {
	Config    jetstream.StreamConfig     `json:"config"`
	Consumers []jetstream.ConsumerConfig `json:"consumers"`
	Last      uint64                     `json:"last"` // its last sequence
	Messages  []storedMessage            `json:"messages"`
}

// storedMessage is a message as it lies in a stream.
type storedMessage struct {
	Seq     uint64      `json:"seq"`
	Time    time.Time   `json:"time"`
	Subject string      `json:"subject"`
	Header  nats.Header `json:"header"`
	Data    string      `json:"data"`
}

// storedView is a job, and its history, as that version showed them.
type storedView struct {
	Job     json.RawMessage   `json:"job"`
	History []json.RawMessage `json:"history"`
}

// name is the job's, collection/job.
func (v storedView) name(t *testing.T) string {
	t.Helper()
	var named struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(v.Job, &named); err != nil {
		t.Fatal(err)
	}
	return named.Name
}

func readStored(t *testing.T, file string) *stored {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &stored{}
	if err := json.Unmarshal(data, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// placed is a message and the stream it belongs into.
type placed struct {
	storedMessage

	stream *storedStream
}

// inOrder returns the messages of all streams in the order of their times.
func (s *stored) inOrder() []placed {
	var all []placed
	for i := range s.Streams {
		for _, m := range s.Streams[i].Messages {
			all = append(all, placed{m, &s.Streams[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int { return a.Time.Compare(b.Time) })
	return all
}

// restore puts everything back: each message has its sequence, and, as the time
// of a bubble is ours, its time. A process had the fired batons when it died:
// they are delivered again.
func (s *stored) restore(t *testing.T, nc *nats.Conn) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	streams := map[string]jetstream.Stream{}
	for _, of := range s.Streams {
		st, err := js.CreateStream(t.Context(), of.Config)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range of.Consumers {
			if c.Durable == "" {
				continue // the watch of a process that is no more
			}
			if _, err := st.CreateConsumer(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		streams[of.Config.Name] = st
	}
	last := map[string]uint64{}
	gap := func(of *storedStream, to uint64) { // sequences of messages that are gone
		name, subject := of.Config.Name, strings.ReplaceAll(of.Config.Subjects[0], ">", "gap.gap.gap")
		for ; last[name] < to; last[name]++ {
			if _, err := js.Publish(t.Context(), subject, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := streams[name].Purge(t.Context(), jetstream.WithPurgeSubject(subject)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range s.inOrder() {
		time.Sleep(time.Until(p.Time))
		gap(p.stream, p.Seq-1)
		m := nats.NewMsg(p.Subject)
		m.Data = []byte(p.Data)
		for name, values := range p.Header {
			if !strings.HasPrefix(name, "Nats-Expected-") { // of messages that may be gone
				m.Header[name] = values
			}
		}
		ack, err := js.PublishMsg(t.Context(), m)
		if err != nil || ack.Sequence != p.Seq {
			t.Fatalf("%s %d: %+v, %v", p.Subject, p.Seq, ack, err)
		}
		last[p.stream.Config.Name] = p.Seq
	}
	for i := range s.Streams {
		gap(&s.Streams[i], s.Streams[i].Last)
	}
	time.Sleep(time.Until(s.Taken))
	s.mustBeRestored(t, streams)
	s.deliver(t, streams["CARILLON_TIMERS_0"])
}

// mustBeRestored compares what lies in the server with what is to lie there.
func (s *stored) mustBeRestored(t *testing.T, streams map[string]jetstream.Stream) {
	t.Helper()
	for _, of := range s.Streams {
		info, err := streams[of.Config.Name].Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if info.State.LastSeq != of.Last || int(info.State.Msgs) != len(of.Messages) {
			t.Fatalf("%s: %d messages up to %d, want %d up to %d",
				of.Config.Name, info.State.Msgs, info.State.LastSeq, len(of.Messages), of.Last)
		}
		for _, want := range of.Messages {
			m, err := streams[of.Config.Name].GetMsg(t.Context(), want.Seq)
			if err != nil {
				t.Fatal(err)
			}
			if off := m.Time.Sub(want.Time).Abs(); string(m.Data) != want.Data || off > time.Millisecond {
				t.Fatalf("%s %d: off by %s, %s", want.Subject, want.Seq, off, m.Data)
			}
		}
	}
}

// deliver hands out what has been fired, to nobody who answers.
func (s *stored) deliver(t *testing.T, timers jetstream.Stream) {
	t.Helper()
	c, err := timers.Consumer(t.Context(), "workers")
	if err != nil {
		t.Fatal(err)
	}
	batch, err := c.FetchNoWait(1000)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range batch.Messages() {
		n++
	}
	if n == 0 {
		t.Fatal("no baton was with a worker")
	}
}
