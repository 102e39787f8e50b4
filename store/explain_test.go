package store_test

import (
	"testing"

	"github.com/carillon-sched/carillon/store"
)

var silent = store.Shut{Stream: "CARILLON_TIMERS_0", Reason: "it does not answer"}

func TestAdvice(t *testing.T) {
	told := func(reason string) store.Shuts {
		return store.Shuts{silent, {Stream: "S", Reason: reason, Reported: true}}
	}
	for _, test := range []struct {
		shut     store.Shuts
		embedded bool
		want     string
	}{
		{told("open 2.blk: too many open files"), false, "raise the server's limit of open files, or end clients that it does not need, and restart the server: it keeps the streams shut until then"},
		{told("write: read-only file system"), true, "make the file system writable where the server keeps its data; the server is restarted then"},
		{told("write: disk quota exceeded"), true, "free some space where the server keeps its data; the server is restarted then"},
		{told("strange"), false, "see the log of the server, and restart the server: it keeps the streams shut until then"},
		{
			store.Shuts{{Stream: "S", Reason: "stream not found"}},
			false, `restart the schedulers if it stays away: they make it again, and "carillon docs recover" lists the losses`,
		},
		{store.Shuts{silent}, true, "see whether the server hangs, and its log"},
		{store.Shuts{{Stream: "S", Reason: "nats: API error: code=503 err_code=10023 description=insufficient resources"}}, false, "free some space, or raise max_file_store in the server's configuration"},
	} {
		if got := test.shut.Advice(test.embedded); got != test.want {
			t.Errorf("%v: got %s", test.shut, got)
		}
	}
}

func TestShutStreams(t *testing.T) {
	var shut store.Shuts
	for _, test := range []struct{ name, want string }{
		{"A", "stream A"}, {"B", "streams A, B"}, {"C", "streams A, B, C"}, {"D", "streams A, B, C, D"}, {"E", "streams A, B, C, D and 1 more"},
	} {
		shut = append(shut, store.Shut{Stream: test.name})
		if got := shut.Streams(); got != test.want {
			t.Errorf("got %s", got)
		}
	}
}
