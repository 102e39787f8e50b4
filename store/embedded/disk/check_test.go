package disk_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/store/embedded"
	"github.com/carillon-sched/carillon/store/embedded/disk"
)

// run runs a server on a directory.
func run(t *testing.T, dir string, f func(js jetstream.JetStream)) []disk.Damage {
	t.Helper()
	s, err := embedded.Start(t.Context(), embedded.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	f(js)
	return s.Damage()
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var bucket = jetstream.KeyValueConfig{Bucket: "b", History: 3}

// fill makes a bucket of a directory: keys k0 to k199, of which every tenth was deleted again and every third written twice.
func fill(t *testing.T, dir string) {
	t.Helper()
	run(t, dir, func(js jetstream.JetStream) {
		kv := must[jetstream.KeyValue](t)(js.CreateKeyValue(t.Context(), bucket))
		for i := range 200 {
			key := fmt.Sprintf("k%d", i)
			must[uint64](t)(kv.PutString(t.Context(), key, strings.Repeat(key+" ", 10)))
			if i%3 == 0 {
				must[uint64](t)(kv.PutString(t.Context(), key, strings.Repeat(key+" ", 10)))
			}
			if i%10 == 0 {
				if err := kv.Purge(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// present counts the keys that a directory has; each must have its value.
func present(t *testing.T, dir string) (keys int, damage []disk.Damage) {
	t.Helper()
	damage = run(t, dir, func(js jetstream.JetStream) {
		kv := must[jetstream.KeyValue](t)(js.KeyValue(t.Context(), "b"))
		names, err := kv.Keys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range names {
			if e := must[jetstream.KeyValueEntry](t)(kv.Get(t.Context(), key)); string(e.Value()) != strings.Repeat(key+" ", 10) {
				t.Errorf("%s is %q", key, e.Value())
			}
		}
		keys = len(names)
	})
	return keys, damage
}

const blockFile = "jetstream/$G/streams/KV_b/msgs/1.blk"

func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestSoundDirectory finds nothing wrong after a stop in good order, after a sudden end, and after a start without an index.
func TestSoundDirectory(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir)
	for name, change := range map[string]func(dir string) error{
		"stopped": func(string) error { return nil },
		"killed":  func(dir string) error { return os.Remove(filepath.Join(dir, "checksums.json")) },
		"no index": func(dir string) error {
			return os.Remove(filepath.Join(dir, filepath.Dir(blockFile), "index.db"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyDir(t, dir)
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			if keys, damage := present(t, dir); keys != 180 || len(damage) > 0 {
				t.Errorf("%d keys, %v", keys, damage)
			}
		})
	}
}

// TestFlippedByte has a byte flipped in every region of a block, with and without an index: one message is lost at most, and
// told by its key.
func TestFlippedByte(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir)
	data := must[[]byte](t)(os.ReadFile(filepath.Join(dir, blockFile)))
	for _, index := range []bool{true, false} {
		for part := range 12 {
			// The offsets are in different fields of records: prime steps.
			offset := (len(data)/12)*part + part*7
			dir := copyDir(t, dir)
			broken := append([]byte(nil), data...)
			broken[offset] ^= 0x20
			if err := os.WriteFile(filepath.Join(dir, blockFile), broken, 0o600); err != nil {
				t.Fatal(err)
			}
			if !index {
				if err := os.Remove(filepath.Join(dir, filepath.Dir(blockFile), "index.db")); err != nil {
					t.Fatal(err)
				}
			}
			keys, damage := present(t, dir)
			if keys < 179 || keys > 181 || len(damage) != 1 || damage[0].Stream != "KV_b" {
				t.Errorf("offset %d, index %t: %d keys, %v", offset, index, keys, damage)
				continue
			}
			if keys == 179 && len(damage[0].Messages) != 1 {
				t.Errorf("offset %d, index %t: it is not told which one is lost: %v", offset, index, damage)
			}
			if kept, err := os.ReadFile(filepath.Join(dir, damage[0].Kept)); err != nil || !bytes.Equal(kept, broken) {
				t.Errorf("the block is not kept as it was: %v", err)
			}
			if _, again := present(t, dir); len(again) > 0 {
				t.Errorf("the second start still finds %v", again)
			}
		}
	}
}

// TestQueueDeliversWhatIsBack has the end of a queue's file cut off, where it stood that messages were removed: these are
// back, and are delivered, as are those that are published from then on.
func TestQueueDeliversWhatIsBack(t *testing.T) {
	dir := t.TempDir()
	publish := func(js jetstream.JetStream, count int) {
		for i := range count {
			must[*jetstream.PubAck](t)(js.Publish(t.Context(), fmt.Sprintf("q.%d", i), []byte(strings.Repeat("x", 100))))
		}
	}
	consume := func(js jetstream.JetStream, most int) (got int) {
		c := must[jetstream.Consumer](t)(js.CreateOrUpdateConsumer(t.Context(), "Q", jetstream.ConsumerConfig{
			Durable: "workers", AckPolicy: jetstream.AckExplicitPolicy,
		}))
		batch := must[jetstream.MessageBatch](t)(c.FetchNoWait(most))
		for m := range batch.Messages() {
			if err := m.DoubleAck(t.Context()); err != nil {
				t.Fatal(err)
			}
			got++
		}
		return got
	}
	run(t, dir, func(js jetstream.JetStream) {
		must[jetstream.Stream](t)(js.CreateStream(t.Context(), jetstream.StreamConfig{
			Name: "Q", Subjects: []string{"q.>"}, Retention: jetstream.WorkQueuePolicy,
		}))
		publish(js, 30)
		if got := consume(js, 20); got != 20 {
			t.Fatalf("%d of 20 came", got)
		}
	})
	file := filepath.Join(dir, strings.ReplaceAll(blockFile, "KV_b", "Q"))
	data := must[[]byte](t)(os.ReadFile(file))
	if err := os.Truncate(file, int64(len(data)/2)); err != nil {
		t.Fatal(err)
	}
	damage := run(t, dir, func(js jetstream.JetStream) {
		stream := must[jetstream.Stream](t)(js.Stream(t.Context(), "Q"))
		back := int(must[*jetstream.StreamInfo](t)(stream.Info(t.Context())).State.Msgs)
		publish(js, 5)
		if got := consume(js, 100); got != back+5 {
			t.Errorf("%d messages were delivered of %d that are back, and 5 new ones", got, back)
		}
	})
	if len(damage) == 0 || !strings.HasSuffix(damage[len(damage)-1].Problem, "begin anew, with all that is there") {
		t.Errorf("it is not told that the consumers begin anew: %v", damage)
	}
}
