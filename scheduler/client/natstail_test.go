package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// follower collects the sequences of the records of a job as they come.
type follower struct {
	came  chan uint64
	ended chan error
}

func follow(ctx context.Context, t *testing.T, c *client.Client, k scheduler.Key) *follower {
	t.Helper()
	f := &follower{make(chan uint64, 1024), make(chan error, 1)}
	stands := make(chan struct{})
	go func() {
		f.ended <- c.Follow(ctx, client.Follow{
			HistoryQuery: client.HistoryQuery{Key: k},
			Begun:        func(context.Context) error { close(stands); return nil },
			Record:       func(r *client.Record) { f.came <- r.Sequence },
			Lost:         func(error) {},
		})
	}()
	select {
	case <-stands:
	case err := <-f.ended:
		t.Fatal(err)
	}
	return f
}

// take waits for so many records.
func (f *follower) take(ctx context.Context, t *testing.T, n int) (all []uint64) {
	t.Helper()
	for range n {
		select {
		case sequence := <-f.came:
			all = append(all, sequence)
		case err := <-f.ended:
			t.Fatal(err)
		case <-ctx.Done():
			t.Fatalf("only %d records came: %v", len(all), all)
		}
	}
	return all
}

// TestFollowMissesAndRepeatsNothing follows a job over NATS while the follower's connection breaks, and then while the
// replica stops that serves it; and until the job is deleted.
func TestFollowMissesAndRepeatsNothing(t *testing.T) {
	w := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	rest := must.Get(client.NewREST(client.RESTConfig{URL: w.api}))(t)
	k := scheduler.Key{Collection: scheduler.DefaultCollection, Job: "followed"}
	must.Get(rest.Put(ctx, k, w.called(later), client.PutOptions{}))(t)
	f := follow(ctx, t, client.NewNATS(client.NATSConfig{Conn: w.nc}), k)
	runs := func(n int) {
		for range n {
			occurrence, err := rest.Run(ctx, k)
			for errors.Is(err, scheduler.ErrConflict) { // the run before is recorded, and about to be over
				occurrence, err = rest.Run(ctx, k)
			}
			if err == nil {
				_, err = rest.Wait(ctx, k, occurrence)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	runs(3)
	must.Do(t, w.nc.ForceReconnect())
	runs(3)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	stop, err := w.run(ctx, l) // a second replica, which may come to serve the tail
	if err != nil {
		t.Fatal(err)
	}
	runs(3)
	must.Do(t, stop())
	runs(3)
	got := f.take(ctx, t, 12)
	var want []uint64
	for r, err := range rest.History(ctx, client.HistoryQuery{Key: k}) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, r.Sequence)
	}
	slices.Reverse(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	must.Do(t, rest.Delete(ctx, k))
	if _, ok := errors.AsType[*client.EndedError](<-f.ended); !ok {
		t.Error("the tail does not end with its job")
	}
}

// TestTailAsksAgain has a service whose tails lose a message, and whose tails' time is up: the client asks again, after
// the last record that came, and tells the service when it has enough.
func TestTailAsksAgain(t *testing.T) {
	w := start(t)
	nc := must.Get(w.server.Connect())(t)
	defer nc.Close()
	// Each request is answered with its messages: number and sequence; 0 is the last one.
	answers := [][][2]int{
		{{0, 5}, {1, 6}, {3, 8}},         // 7 is missing
		{{0, 6}, {1, 7}, {2, 8}, {3, 0}}, // the time is up
		{{0, 8}, {1, 9}},
	}
	asked, left := make(chan string, 16), make(chan string, 16)
	for subject, handle := range map[string]nats.MsgHandler{
		"other.api.follow.default.job": func(m *nats.Msg) {
			asked <- string(m.Data)
			if len(answers) == 0 {
				return
			}
			messages := answers[0]
			answers = answers[1:]
			for i, one := range messages {
				out := nats.NewMsg(m.Reply)
				out.Header.Set("Carillon-Number", strconv.Itoa(one[0]))
				out.Header.Set("Carillon-Sequence", strconv.Itoa(one[1]))
				switch {
				case i == 0:
					out.Header.Set("Carillon-Status", "200")
					out.Header.Set("Carillon-Tail", fmt.Sprintf("tail%d", len(answers)))
				case one[1] == 0:
					out.Header.Set("Carillon-Tail", "again")
				default:
					out.Data = fmt.Appendf(nil, `{"name": "default/job/1", "properties": {"sequence": %d}}`, one[1])
				}
				_ = nc.PublishMsg(out)
			}
		},
		"other.api.unfollow.*": func(m *nats.Msg) { left <- m.Subject },
	} {
		must.Get(nc.Subscribe(subject, handle))(t)
	}
	must.Do(t, nc.Flush())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := client.NewNATS(client.NATSConfig{Conn: w.nc, Prefix: "other"})
	followed, stop := context.WithCancel(ctx)
	f := follow(followed, t, c, scheduler.Key{Collection: "default", Job: "job"})
	if got := f.take(ctx, t, 4); !slices.Equal(got, []uint64{6, 7, 8, 9}) {
		t.Errorf("got %v", got)
	}
	stop()
	if err := <-f.ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, want := range []string{"{}", `{"after":6}`, `{"after":8}`} {
		if got := <-asked; got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
	}
	for _, want := range []string{"tail2", "tail0"} {
		select {
		case got := <-left:
			if got != "other.api.unfollow."+want {
				t.Errorf("left %s, want %s", got, want)
			}
		case <-ctx.Done():
			t.Fatalf("%s was not left", want)
		}
	}
}

// TestOverNATSAlone is what differs between the transports: what the micro service does not have, and that nobody answers.
func TestOverNATSAlone(t *testing.T) {
	w := start(t)
	c := client.NewNATS(client.NATSConfig{Conn: w.nc})
	if _, err := c.Doctor(t.Context(), false); !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("doctor: got %v", err)
	}
	if has, err := c.HasEcho(t.Context()); has || err != nil {
		t.Errorf("echo: got %v and %v", has, err)
	}
	k := scheduler.Key{Collection: scheduler.DefaultCollection, Job: "job"}
	nobody := client.NewNATS(client.NATSConfig{Conn: w.nc, Prefix: "nobody"})
	if _, err := nobody.Get(t.Context(), k); !errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("nobody: got %v", err)
	}
	err := nobody.Follow(t.Context(), client.Follow{HistoryQuery: client.HistoryQuery{Key: k}})
	if !errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("nobody to follow: got %v", err)
	}
	if _, err := c.Get(t.Context(), scheduler.Key{Collection: "default", Job: "a b>"}); !errors.Is(err, scheduler.ErrInvalid) {
		t.Errorf("a name that is no token: got %v", err)
	}
	if _, err := c.Get(t.Context(), scheduler.Key{Collection: "default", Job: "a.b"}); !errors.Is(err, scheduler.ErrInvalid) {
		t.Errorf("a name of two tokens: got %v", err)
	}
}
