package emulate_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/queues"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// countedBus and countedStorage count how often messages are looked at.
type countedBus struct {
	queues.Bus

	looks *atomic.Int64
}

func (b countedBus) Peek(q browse.Query) (browse.Page, error) {
	b.looks.Add(1)
	return b.Bus.Peek(q)
}

type countedStorage struct {
	queues.Storage

	looks *atomic.Int64
}

func (s countedStorage) Messages(account, queue string, from uint64, most int, text string) ([]storagequeue.Message, uint64, error) {
	s.looks.Add(1)
	return s.Storage.Messages(account, queue, from, most, text)
}

// TestSearchIsNotRepeated keeps pages up to date that show what a search has found: all messages are not searched each second.
func TestSearchIsNotRepeated(t *testing.T) {
	d := open(t)
	must.Get(d.storage.CreateQueue(t.Context(), "letters", nil))(t)
	looks := new(atomic.Int64)
	cfg := d.servers.ConsoleConfig("carillon emulate")
	bus, storage := cfg.Bus, cfg.Storage
	cfg.Bus = func() queues.Bus { return countedBus{bus(), looks} }
	cfg.Storage = func() queues.Storage { return countedStorage{storage(), looks} }
	pages := httptest.NewServer(frame.New(frame.Config{Sections: []frame.Section{queues.Alone(cfg)}}))
	t.Cleanup(func() { pages.CloseClientConnections(); pages.Close() })
	// last is the last event of a first look.
	for path, last := range map[string]string{
		"/entity/events?follow=1&at=orders":                                      "messages",
		"/entity/events?follow=1&at=orders&q=x":                                  "tabs",
		"/storage/events?follow=1&account=devstoreaccount1&queue=letters":        "messages",
		"/storage/events?follow=1&account=devstoreaccount1&queue=letters&q=text": "state",
	} {
		looks.Store(0)
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, pages.URL+queues.Path+path, http.NoBody))(t)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for lines := bufio.NewScanner(answer.Body); !found && lines.Scan(); {
			found = lines.Text() == "event: "+last
		}
		if got := looks.Load(); (got == 0) != strings.Contains(path, "q=") {
			t.Errorf("%s: looked at messages %d times", path, got)
		}
		must.Do(t, answer.Body.Close())
	}
}
