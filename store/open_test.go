package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

func connect(t *testing.T, s nats.InProcessConnProvider, opts ...nats.Option) *nats.Conn {
	t.Helper()
	nc := must.Get(nats.Connect("", append(opts, nats.InProcessServer(s))...))(t)
	t.Cleanup(nc.Close)
	return nc
}

func open(t *testing.T, nc *nats.Conn, cfg store.Config) (*store.Store, error) {
	t.Helper()
	cfg.Storage = jetstream.MemoryStorage
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return store.Open(ctx, nc, cfg)
}

// denied has a user "weak", who may not publish to some subjects.
func denied(subjects ...string) func(*server.Options) {
	return func(o *server.Options) {
		o.Users = []*server.User{{Username: "weak", Password: "x", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Deny: subjects},
		}}}
	}
}

func TestReplicasOpenTogether(t *testing.T) {
	s := storetest.Server(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		nc := connect(t, s)
		wg.Go(func() {
			st, err := open(t, nc, store.Config{Lanes: 3})
			if err == nil && st.Lanes() != 3 {
				err = errors.New("wrong number of lanes")
			}
			errs[i] = err
		})
	}
	wg.Wait()
	must.Do(t, errors.Join(errs...))
	st, err := open(t, connect(t, s), store.Config{})
	if err != nil || st.Lanes() != 3 {
		t.Errorf("a replica without a setting: %v", err)
	}
}

// TestSecondOpenUpdatesNoStream: a second start changes nothing.
func TestSecondOpenUpdatesNoStream(t *testing.T) {
	for name, always := range map[string]bool{"": false, "sync always": true} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Server(t, func(o *server.Options) { o.SyncAlways = always })
			nc := connect(t, s)
			cfg := store.Config{SyncAlways: always}
			must.Get(open(t, nc, cfg))(t)
			updates := must.Get(nc.SubscribeSync("$JS.API.STREAM.UPDATE.>"))(t)
			must.Get(open(t, nc, cfg))(t)
			must.Do(t, nc.Flush())
			for n, _, _ := updates.Pending(); n > 0; n-- {
				m := must.Get(updates.NextMsg(time.Second))(t)
				t.Error(m.Subject)
			}
		})
	}
}

// TestOperatorsMaxBytes: a start keeps the maximum size that an operator gave a stream, also when it changes its age.
func TestOperatorsMaxBytes(t *testing.T) {
	nc := connect(t, storetest.Server(t))
	must.Get(open(t, nc, store.Config{}))(t)
	js := must.Get(jetstream.New(nc))(t)
	cfg := must.Get(js.Stream(t.Context(), "CARILLON_HISTORY"))(t).CachedInfo().Config
	cfg.MaxBytes = 1 << 20
	must.Get(js.UpdateStream(t.Context(), cfg))(t)
	must.Get(open(t, nc, store.Config{HistoryAge: time.Hour}))(t)
	got := must.Get(js.Stream(t.Context(), "CARILLON_HISTORY"))(t).CachedInfo().Config
	if got.MaxBytes != 1<<20 || got.MaxAge != time.Hour {
		t.Errorf("the stream has %d bytes at most, for %s", got.MaxBytes, got.MaxAge)
	}
}

// TestNoRoomForEvents opens a store on a server with less space than events may use, at the first start and after an
// upgrade, and with a size that fits.
func TestNoRoomForEvents(t *testing.T) {
	nc := connect(t, storetest.Server(t, func(o *server.Options) { o.JetStreamMaxMemory = 64 << 20 }))
	js := must.Get(jetstream.New(nc))(t)
	for _, step := range []struct{ asks, want int64 }{{0, -1}, {0, -1}, {1 << 20, 1 << 20}, {1 << 30, 1 << 20}} {
		must.Get(open(t, nc, store.Config{EventBytes: step.asks}))(t)
		if got := must.Get(js.Stream(t.Context(), "CARILLON_EVENTS"))(t).CachedInfo().Config.MaxBytes; got != step.want {
			t.Errorf("with %d bytes: the stream has %d at most, want %d", step.asks, got, step.want)
		}
	}
}

func TestPrefixesAreApart(t *testing.T) {
	s := storetest.Server(t)
	nc := connect(t, s)
	for _, prefix := range []string{"", "staging", "team.one"} {
		if _, err := open(t, nc, store.Config{Prefix: prefix}); err != nil {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}

// TestSettingErrors opens stores that cannot work; the error names the responsible setting.
func TestSettingErrors(t *testing.T) {
	tests := map[string]struct {
		server  func(*server.Options)
		prepare func(t *testing.T, js jetstream.JetStream)
		user    string
		cfg     store.Config
		setting string
		want    string
	}{
		"JetStream is off": {
			server:  func(o *server.Options) { o.JetStream = false },
			setting: "jetstream", want: "off",
		},
		"another number of lanes": {
			prepare: func(t *testing.T, js jetstream.JetStream) {
				must.Get(open(t, js.Conn(), store.Config{Lanes: 2}))(t)
			},
			cfg: store.Config{Lanes: 4}, setting: "lanes", want: "created with 2",
		},
		"a later version's": {
			prepare: func(t *testing.T, js jetstream.JetStream) {
				must.Get(open(t, js.Conn(), store.Config{}))(t)
				settings := must.Get(js.KeyValue(t.Context(), "carillon-settings"))(t)
				must.Get(settings.PutString(t.Context(), "schema", "99"))(t)
			},
			setting: "store", want: `a later version of Carillon has written it (form "99"`,
		},
		"a stream with limits": {
			prepare: makeStream(jetstream.StreamConfig{
				Name: "CARILLON_TIMERS_0", Subjects: []string{"carillon.timer.0.>", "carillon.fire.0.>"},
				Retention: jetstream.WorkQueuePolicy, AllowMsgSchedules: true, AllowDirect: true, MaxAge: time.Hour,
			}),
			setting: "prefix", want: "max_age",
		},
		"a stream without schedules": {
			prepare: makeStream(jetstream.StreamConfig{
				Name: "CARILLON_TIMERS_0", Subjects: []string{"carillon.timer.0.>", "carillon.fire.0.>"},
				Retention: jetstream.WorkQueuePolicy, AllowDirect: true,
			}),
			setting: "prefix", want: "allow_msg_schedules",
		},
		"a stream without times to live": {
			prepare: makeStream(jetstream.StreamConfig{
				Name: "CARILLON_SPEC_RESULTS", Subjects: []string{"carillon.spec-result.>", "carillon.spec-id.*"}, AllowDirect: true,
			}),
			setting: "prefix", want: "allow_msg_ttl",
		},
		"a bucket without times to live": {
			prepare: func(t *testing.T, js jetstream.JetStream) {
				must.Get(js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{
					Bucket: "carillon-jobs", History: 64, Storage: jetstream.MemoryStorage,
				}))(t)
			},
			setting: "prefix", want: "allow_msg_ttl",
		},
		"a stream of another kind": {
			prepare: makeStream(jetstream.StreamConfig{Name: "CARILLON_HISTORY", Subjects: []string{"elsewhere.>"}}),
			setting: "prefix", want: "carillon.history.>",
		},
		"too many replicas": {
			cfg: store.Config{Replicas: 3}, setting: "replicas", want: "3 replicas",
		},
		"a forbidden subject": {
			server: denied("carillon.history.>"), user: "weak", setting: "permissions", want: "carillon.history",
		},
		"acknowledgements are forbidden": {
			server: denied("$JS.ACK.>"), user: "weak", setting: "permissions", want: "$JS.ACK.CARILLON_TIMERS_0.workers",
		},
		"the API is forbidden": {
			server: denied("$JS.API.>"), user: "weak", setting: "permissions", want: "$JS.API",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := storetest.Server(t, test.server)
			var opts []nats.Option
			if test.user != "" {
				opts = append(opts, nats.UserInfo(test.user, "x"))
			}
			nc := connect(t, s, opts...)
			if test.prepare != nil {
				test.prepare(t, must.Get(jetstream.New(nc))(t))
			}
			_, err := open(t, nc, test.cfg)
			wrong, ok := errors.AsType[*store.SettingError](err)
			if !ok || wrong.Setting != test.setting || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want setting %s and %q in it", err, test.setting, test.want)
			}
		})
	}
}

func makeStream(cfg jetstream.StreamConfig) func(*testing.T, jetstream.JetStream) {
	cfg.Storage = jetstream.MemoryStorage
	return func(t *testing.T, js jetstream.JetStream) {
		t.Helper()
		must.Get(js.CreateStream(t.Context(), cfg))(t)
	}
}

func TestBadConfig(t *testing.T) {
	s := storetest.Server(t)
	for name, cfg := range map[string]store.Config{
		"prefix": {Prefix: "a b"}, "lanes": {Lanes: -1}, "replicas": {Replicas: 9},
	} {
		if _, err := open(t, connect(t, s), cfg); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAcknowledgementsByResponse: a user with response permission needs no other permission to acknowledge.
func TestAcknowledgementsByResponse(t *testing.T) {
	s := storetest.Server(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "answers", Password: "x", Permissions: &server.Permissions{
			Publish:  &server.SubjectPermission{Allow: []string{"carillon.>", "$KV.>", "$JS.API.>", "$SYS.REQ.USER.INFO"}},
			Response: &server.ResponsePermission{MaxMsgs: -1, Expires: time.Hour},
		}}}
	})
	if _, err := open(t, connect(t, s, nats.UserInfo("answers", "x")), store.Config{}); err != nil {
		t.Error(err)
	}
}

// TestOpenTellsWhatItMakes opens a store twice; the second time creates nothing.
func TestOpenTellsWhatItMakes(t *testing.T) {
	nc := connect(t, storetest.Server(t))
	for _, made := range []bool{true, false} {
		var told []string
		must.Get(open(t, nc, store.Config{Progress: func(what string) { told = append(told, what) }}))(t)
		for _, want := range []string{"creating bucket carillon-jobs with 1 replicas", "creating stream CARILLON_HISTORY with 1 replicas"} {
			if slices.Contains(told, want) != made {
				t.Errorf("%q: got %q", want, told)
			}
		}
	}
}

// TestStreamsAreAll compares the balanced streams with the server's: a missing one would leave the servers unbalanced.
func TestStreamsAreAll(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		var want []string
		for name := range w.js.StreamNames(t.Context()).Name() {
			want = append(want, name)
		}
		got := w.store.Streams()
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
