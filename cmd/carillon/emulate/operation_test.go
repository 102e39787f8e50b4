package emulate_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/queues"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// slow is a namespace in which a purge tells that it has begun, and then waits until it is stopped.
type slow struct{ queues.Bus }

func (s slow) Purge(ctx context.Context, b browse.Batch) (browse.Tally, error) {
	b.Note(browse.Tally{Done: 1})
	<-ctx.Done()
	return browse.Tally{Done: 1}, ctx.Err()
}

// TestLongPurge has a purge that takes its time: the request is answered, a page follows it, and it can be stopped.
func TestLongPurge(t *testing.T) {
	d := open(t)
	d.send("orders", &azservicebus.Message{Body: []byte("a")}, &azservicebus.Message{Body: []byte("b")}, &azservicebus.Message{Body: []byte("c")})
	cfg := d.servers.ConsoleConfig("carillon emulate")
	bus := cfg.Bus
	cfg.Bus = func() queues.Bus { return slow{bus()} }
	pages := httptest.NewServer(frame.New(frame.Config{Sections: []frame.Section{queues.Alone(cfg)}, Unlocked: true}))
	t.Cleanup(pages.Close)
	d.url = pages.URL
	status, where := d.post("/console/queues/purge", url.Values{"at": {"orders"}, "part": {"active"}})
	if status != http.StatusSeeOther || !strings.HasPrefix(where, "/console/queues/operation?id=") {
		t.Fatalf("a purge that lasts: %d %s", status, where)
	}
	page := d.page(where, "1 of 3 messages so far", `<progress max="3" value="1"`, `data-parts="progress"`)
	if strings.Contains(page, "Show messages") {
		t.Errorf("it seems to have ended:\n%s", page)
	}
	id := strings.TrimPrefix(where, "/console/queues/operation?id=")
	until := d.follow("/console/queues/operation/events?follow=1&id=" + id)
	until("1 of 3 messages so far")
	d.done("/console/queues/operation/stop", url.Values{"id": {id}})
	until("Stopped after 1 messages")
	d.page(where, "Stopped after 1 messages", "Show messages")
	d.done("/console/queues/operation/stop", url.Values{"id": {id}}) // again: nothing more happens
	if status, _, _ := d.get("/console/queues/operation?id=none"); status != http.StatusNotFound {
		t.Errorf("no such operation: %d", status)
	}
	if status, _ := d.post("/console/queues/purge", url.Values{"at": {"nothing"}}); status != http.StatusNotFound {
		t.Errorf("a purge of nothing: %d", status)
	}
}

// TestResubmitSome resubmits dead letters of which some are refused: they stay, and the page says why.
func TestResubmitSome(t *testing.T) {
	d := open(t)
	const dear = "events/Subscriptions/dear"
	north := map[string]any{"side": "north"}
	d.send("events", &azservicebus.Message{Body: []byte("a"), ApplicationProperties: north}, &azservicebus.Message{Body: []byte("b"), ApplicationProperties: north})
	receiver := must.Get(d.bus.NewReceiverForSubscription("events", "dear", nil))(t)
	all := must.Get(receiver.ReceiveMessages(t.Context(), 2, nil))(t)
	for _, m := range all {
		must.Do(t, receiver.DeadLetterMessage(t.Context(), m, nil))
	}
	d.done("/console/queues/change", url.Values{"at": {dear}, "status": {"SendDisabled"}})
	status, where := d.post("/console/queues/resubmit", url.Values{"at": {dear}, "part": {"dead"}, "all": {"1"}})
	if status != http.StatusSeeOther || !strings.HasPrefix(where, "/console/queues/operation") {
		t.Fatalf("it is %d %s", status, where)
	}
	d.page(where, "Finished: 2 messages.", "Refused; they stay", "is currently disabled")
	if got := d.pills(dear); got != "0 0 0 2" {
		t.Errorf("tabs are %q", got)
	}
	if status, text := d.post("/console/queues/resubmit", url.Values{"at": {dear}, "part": {"dead"}, "n": {"1"}}); status < 400 || !strings.Contains(text, "disabled") {
		t.Errorf("one of them: %d\n%s", status, text)
	}
	if got := d.pills(dear); got != "0 0 0 2" {
		t.Errorf("tabs are %q", got)
	}
}

// TestMarked resubmits and deletes messages that were marked.
func TestMarked(t *testing.T) {
	d := open(t)
	for range 6 {
		d.send("orders", &azservicebus.Message{Body: []byte("x")})
	}
	d.deadLetter("orders", 6)
	const dead = "at=orders&part=dead&marked=1"
	d.page("/console/queues/entity?at=orders&part=dead", `name="n" value="6" form="marked"`, "Resubmit selected", "Delete selected")
	d.page("/console/queues/resubmit?"+dead+"&n=2&n=4", "Resubmit 2 selected dead letters of orders?", `name="n" value="2"`, `name="n" value="4"`)
	d.page("/console/queues/resubmit?"+dead+"&n=2", "Resubmit the selected dead letter of orders?")
	d.page("/console/queues/purge?"+dead+"&n=1&n=3&n=5", "Delete 3 selected messages of orders?")
	for _, path := range []string{"resubmit", "purge"} {
		if status, body, _ := d.get("/console/queues/" + path + "?" + dead); status != http.StatusBadRequest || !strings.Contains(body, "No message is selected.") {
			t.Errorf("%s of none: %d\n%s", path, status, body)
		}
	}
	d.done("/console/queues/resubmit", url.Values{"at": {"orders"}, "part": {"dead"}, "all": {"1"}, "n": {"2", "4"}})
	d.done("/console/queues/purge", url.Values{"at": {"orders"}, "part": {"dead"}, "all": {"1"}, "n": {"1", "3", "99"}})
	if got := strings.Join(numbered(d.page("/console/queues/entity?at=orders&part=dead")), " "); got != "5 6" {
		t.Errorf("dead letters are %s", got)
	}
	if got := d.pills("orders"); got != "2 0 0 2" {
		t.Errorf("tabs are %q", got)
	}
	if status, _ := d.post("/console/queues/purge", url.Values{"at": {"orders"}, "n": {"x"}}); status != http.StatusBadRequest {
		t.Errorf("no number: %d", status)
	}
}
