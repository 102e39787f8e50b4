package broker_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// A tally counts how often each message was completed.
type tally struct {
	mu    sync.Mutex
	times map[string]int
	total int
	done  chan struct{} // closed when all have been
}

func newTally(total int) *tally {
	return &tally{times: map[string]int{}, total: total, done: make(chan struct{})}
}

func (y *tally) add(id string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.times[id]++
	y.total--
	if y.total == 0 {
		close(y.done)
	}
}

func (y *tally) check(t *testing.T, want int) {
	t.Helper()
	if len(y.times) != want {
		t.Errorf("%d messages, want %d", len(y.times), want)
	}
	for id, n := range y.times {
		if n != 1 {
			t.Errorf("message %s was completed %d times", id, n)
		}
	}
}

// consume receives and completes, and now and then gives back, until done.
func consume(b *broker.Broker, path string, y *tally, config broker.ReceiverConfig) error {
	from, err := b.Source(path)
	if err != nil {
		return err
	}
	wake := make(chan struct{}, 1)
	config.Wake = func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	r, err := from.Receive(config)
	if err != nil {
		return err
	}
	defer r.Close()
	var buf []byte
	for i := 0; ; i++ {
		r.SetCredit(10)
		d, ok := r.Next(buf)
		if !ok {
			select {
			case <-y.done:
				return nil
			case <-wake:
			}
			continue
		}
		buf = d.Payload
		m, err := amqp.ParseMessage(d.Payload)
		if err != nil {
			return err
		}
		id := amqp.IDString(m.Properties().MessageID)
		outcome := broker.Outcome{}
		if i%7 == 3 {
			outcome.Kind = broker.Release
		}
		if _, err := from.Settle(d.Token, outcome, nil); err != nil {
			return err
		}
		if outcome.Kind == broker.Complete {
			y.add(id)
		}
	}
}

// TestManyAtOnce has senders, receivers, transactions and snapshots at once: nothing is lost or duplicated.
func TestManyAtOnce(t *testing.T) {
	const senders, each = 4, 500
	b, stop := start(t, broker.Config{Dir: t.TempDir()})
	defer stop()
	must.Get(b.CreateQueue("q", broker.Options{}))(t)
	must.Get(b.CreateQueue("in", broker.Options{ForwardTo: "t"}))(t)
	must.Get(b.CreateTopic("t", broker.Options{}))(t)
	must.Get(b.CreateSubscription("t", "all", broker.Options{}, nil))(t)
	must.Get(b.CreateSubscription("t", "on", broker.Options{ForwardTo: "end"}, nil))(t)
	must.Get(b.CreateQueue("end", broker.Options{}))(t)
	tallies := map[string]*tally{}
	var group sync.WaitGroup
	for _, path := range []string{"q", "t/Subscriptions/all", "end"} {
		y := newTally(senders * each)
		tallies[path] = y
		for range 3 {
			group.Go(func() {
				if err := consume(b, path, y, broker.ReceiverConfig{}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	for i := range senders {
		group.Go(func() {
			for j := range each {
				m := []amqp.Message{build(t, spec{id: fmt.Sprintf("%d.%d", i, j)})}
				txn := b.Begin()
				_, err := target(t, b, "q").Send(m, txn)
				if err == nil {
					_, err = target(t, b, "in").Send(m, txn)
				}
				if err == nil {
					_, err = txn.Commit()
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Go(func() {
		for range 20 {
			if err := b.Snapshot(); err != nil {
				t.Error(err)
			}
		}
	})
	group.Wait()
	for _, y := range tallies {
		y.check(t, senders*each)
	}
	for _, q := range b.Entities() {
		if q.Usage.Total() != 0 || q.Usage.Size != 0 {
			t.Errorf("%s has %+v", q.Name, q.Usage)
		}
	}
}

// TestSessionsAtOnce has workers that take the next session each: order within a session holds.
func TestSessionsAtOnce(t *testing.T) {
	const sessions, each = 50, 20
	b, stop := start(t, broker.Config{})
	defer stop()
	must.Get(b.CreateQueue("q", broker.Options{RequiresSession: true}))(t)
	for i := range each {
		for s := range sessions {
			send(t, b, "q", spec{id: strconv.Itoa(i), session: strconv.Itoa(s)})
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	next := map[string]int{}
	left := sessions * each
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				s, err := source(t, b, "q").AcceptNext(ctx)
				if err != nil {
					return
				}
				r := receive(t, b, "q", broker.ReceiverConfig{Session: s, Mode: broker.ReceiveAndDelete})
				r.SetCredit(7)
				mu.Lock()
				for _, id := range r.all() {
					if id != strconv.Itoa(next[s.ID()]) {
						t.Errorf("session %s: got %s, want %d", s.ID(), id, next[s.ID()])
					}
					next[s.ID()]++
					left--
				}
				if left == 0 {
					cancel()
				}
				mu.Unlock()
				r.Close()
			}
		})
	}
	group.Wait()
	cancel()
	if left != 0 {
		t.Errorf("%d messages are left", left)
	}
}

const victimDir = "CARILLON_TEST_VICTIM_DIR"

// TestKill kills a process that sends and completes, and looks at what it had acknowledged.
func TestKill(t *testing.T) {
	if dir := os.Getenv(victimDir); dir != "" {
		victim(t, dir)
		return
	}
	dir := t.TempDir()
	acknowledged := map[string][]string{}
	for range 3 {
		kill(t, dir, acknowledged)
	}
	sent, completed := acknowledged["sent"], acknowledged["completed"]
	if len(sent) < 100 || len(completed) < 20 {
		t.Fatalf("%d messages were sent, %d completed", len(sent), len(completed))
	}
	b, stop := start(t, broker.Config{Dir: dir})
	defer stop()
	have := map[string]int{}
	deliveries := must.Get(source(t, b, "q").Peek(0, 1<<20, nil))(t)
	for _, d := range deliveries {
		have[parse(t, d).id()]++
	}
	for _, id := range completed {
		if have[id] != 0 {
			t.Errorf("message %s is back", id)
		}
		have[id] = 1
	}
	for _, id := range acknowledged["completing"] {
		if have[id] == 0 { // the process ended before it could say so
			have[id] = 1
		}
	}
	for _, id := range sent {
		if have[id] != 1 {
			t.Errorf("message %s is there %d times", id, have[id])
		}
	}
}

// kill runs a victim for a while and collects what it has said: a word and the id of a message.
func kill(t *testing.T, dir string, said map[string][]string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestKill$")
	command.Env = append(os.Environ(), victimDir+"="+dir)
	out := must.Get(command.StdoutPipe())(t)
	must.Do(t, command.Start())
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if n == 400 {
			if err := command.Process.Kill(); err != nil { // what is in the pipe was acknowledged as well
				t.Fatal(err)
			}
		}
		word, id, _ := strings.Cut(lines.Text(), " ")
		said[word] = append(said[word], id)
	}
	_ = command.Wait() // it was killed
}

// victim sends and completes until it is killed, and prints each once it is acknowledged.
func victim(t *testing.T, dir string) {
	t.Helper()
	b, _ := start(t, broker.Config{Dir: dir})
	if _, err := b.Entity("q"); err != nil {
		must.Get(b.CreateQueue("q", broker.Options{}))(t)
	}
	r := receive(t, b, "q", broker.ReceiverConfig{})
	for i := 0; ; i++ {
		id := fmt.Sprintf("%d-%d", time.Now().UnixNano(), i)
		send(t, b, "q", spec{id: id})
		fmt.Println("sent " + id)
		if i%4 == 0 {
			r.SetCredit(1)
			m := r.next()
			fmt.Println("completing " + m.id())
			r.settle(m, broker.Outcome{})
			fmt.Println("completed " + m.id())
		}
		if i%100 == 50 {
			go func() { _ = b.Snapshot() }()
		}
	}
}
