package emulate_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestDeadLetters resubmits one as it is, one edited, and purges the rest.
func TestDeadLetters(t *testing.T) {
	d := open(t)
	for i := range 5 {
		d.send("orders", &azservicebus.Message{
			Body: fmt.Appendf(nil, "order %d\r\nwith lines", i), MessageID: new(strconv.Itoa(i)), ApplicationProperties: map[string]any{"n": int64(i)},
		})
	}
	d.deadLetter("orders", 5)
	page := d.page("/console/queues/entity?at=orders&part=dead", "Refused", "no &lt;b&gt;customer&lt;/b&gt;")
	if got := numbered(page); !slices.Equal(got, []string{"1", "2", "3", "4", "5"}) {
		t.Fatalf("dead letters are %v", got)
	}
	d.done("/console/queues/resubmit", url.Values{"at": {"orders"}, "part": {"dead"}, "n": {"2"}})
	d.page("/console/queues/resubmit?at=orders&part=dead&n=3", "order 2", `value="n"`, "<option selected>long</option>")
	d.done("/console/queues/resubmit", url.Values{
		"at": {"orders"}, "part": {"dead"}, "n": {"3"}, "edited": {"1"}, "body": {"mended"}, "messageid": {"2"}, "pname": {"n", "more"}, "ptype": {"long", "int"}, "pvalue": {"7", "8"},
	})
	d.done("/console/queues/resubmit", url.Values{ // edited, but for the body
		"at": {"orders"}, "part": {"dead"}, "n": {"4"}, "edited": {"1"}, "body": {"order 3\r\nwith lines"}, "messageid": {"3"}, "subject": {"again"},
	})
	status, text := d.post("/console/queues/resubmit", url.Values{
		"at": {"orders"}, "part": {"dead"}, "n": {"5"}, "edited": {"1"}, "body": {"kept <b>"}, "ttl": {"soon"}, "pname": {"n"}, "ptype": {"long"}, "pvalue": {"many"},
	})
	if status != http.StatusUnprocessableEntity || !strings.Contains(text, "kept &lt;b&gt;") || !strings.Contains(text, "is not a duration") {
		t.Errorf("a form with mistakes: %d\n%s", status, text)
	}
	receiver, all := d.receive("orders", 3)
	for i, want := range []string{"order 1\r\nwith lines", "mended", "order 3\r\nwith lines"} {
		if string(all[i].Body) != want || all[i].ApplicationProperties["DeadLetterReason"] != nil {
			t.Errorf("message %d is %q with %v", i, all[i].Body, all[i].ApplicationProperties)
		}
		must.Do(t, receiver.CompleteMessage(t.Context(), all[i], nil))
	}
	if p := all[1].ApplicationProperties; p["n"] != int64(7) || p["more"] != int32(8) || all[1].MessageID != "2" || *all[2].Subject != "again" {
		t.Errorf("the edited ones are %v and %v", p, all[2])
	}
	d.page("/console/queues/purge?at=orders&part=dead", "Delete the 2 dead letters of orders?")
	d.done("/console/queues/purge", url.Values{"at": {"orders"}, "part": {"dead"}})
	if got := d.pills("orders"); got != "0 0 0 0" {
		t.Errorf("tabs are %q", got)
	}
	if status, _ := d.post("/console/queues/resubmit", url.Values{"at": {"orders"}, "part": {"dead"}, "n": {"1"}}); status != http.StatusNotFound {
		t.Errorf("a dead letter that is gone: %d", status)
	}
}

// TestDuplicate resubmits a dead letter whose id is known already: it comes back all the same.
func TestDuplicate(t *testing.T) {
	d := open(t)
	d.send("unique", &azservicebus.Message{Body: []byte("once"), MessageID: new("id")})
	d.deadLetter("unique", 1)
	d.done("/console/queues/resubmit", url.Values{"at": {"unique"}, "part": {"dead"}, "n": {"1"}})
	if _, all := d.receive("unique", 1); string(all[0].Body) != "once" {
		t.Errorf("it is %q", all[0].Body)
	}
}

// TestSubscription resubmits a dead letter of a subscription: into it alone, or to the topic.
func TestSubscription(t *testing.T) {
	d := open(t)
	d.send("events", &azservicebus.Message{Body: []byte("a"), ApplicationProperties: map[string]any{"side": "north"}}, &azservicebus.Message{Body: []byte("b"), ApplicationProperties: map[string]any{"side": "north"}})
	receiver := must.Get(d.bus.NewReceiverForSubscription("events", "dear", nil))(t)
	all := must.Get(receiver.ReceiveMessages(t.Context(), 2, nil))(t)
	for _, m := range all {
		must.Do(t, receiver.DeadLetterMessage(t.Context(), m, nil))
	}
	const dear = "events/Subscriptions/dear"
	d.page("/console/queues/resubmit?at="+dear+"&part=dead", "This subscription only", "Topic events")
	d.done("/console/queues/resubmit", url.Values{"at": {dear}, "part": {"dead"}, "n": {"1"}})
	if got := d.pills(dear) + ", " + d.pills("events/Subscriptions/all"); got != "1 0 0 1, 2 0 0 0" {
		t.Errorf("into it alone: %q", got)
	}
	d.done("/console/queues/resubmit", url.Values{"at": {dear}, "part": {"dead"}, "n": {"2"}, "to": {"topic"}})
	if got := d.pills(dear) + ", " + d.pills("events/Subscriptions/all"); got != "2 0 0 0, 3 0 0 0" {
		t.Errorf("to the topic: %q", got)
	}
}

// TestResubmitAll puts dead letters back while a receiver takes them: each arrives once.
func TestResubmitAll(t *testing.T) {
	const total = 300
	d := open(t)
	var messages []*azservicebus.Message
	for i := range total {
		messages = append(messages, &azservicebus.Message{MessageID: new(strconv.Itoa(i)), Body: []byte("x")})
	}
	d.send("orders", messages...)
	d.deadLetter("orders", total)
	ended := make(chan map[string]int)
	go func() {
		ids := map[string]int{}
		receiver, err := d.bus.NewReceiverForQueue("orders", nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for err == nil && len(ids) < total {
			var all []*azservicebus.ReceivedMessage
			if all, err = receiver.ReceiveMessages(ctx, 50, nil); err == nil {
				for _, m := range all {
					ids[m.MessageID]++
					err = receiver.CompleteMessage(ctx, m, nil)
				}
			}
		}
		ended <- ids
	}()
	d.page("/console/queues/resubmit?at=orders&part=dead", "Resubmit the 300 dead letters of orders?")
	d.done("/console/queues/resubmit", url.Values{"at": {"orders"}, "part": {"dead"}, "all": {"1"}})
	ids := <-ended
	for id, n := range ids {
		if n != 1 {
			t.Errorf("message %s came %d times", id, n)
		}
	}
	if got := d.pills("orders"); len(ids) != total || got != "0 0 0 0" {
		t.Errorf("%d messages came, and tabs are %q", len(ids), got)
	}
}

// TestBury makes dead letters of messages by hand: not of those that a receiver has, that are scheduled or are dead letters.
func TestBury(t *testing.T) {
	d := open(t)
	form := url.Values{"at": {"orders"}, "body": {"x"}}
	for range 2 {
		d.done("/console/queues/send", form)
	}
	d.done("/console/queues/send", with(form, "scheduled", "2999-01-01T00:00:00"))
	d.page("/console/queues/message?at=orders&part=active&n=1", `action="/console/queues/bury"`)
	bury := url.Values{"at": {"orders"}, "n": {"1"}, "reason": {"<b>bad</b>"}, "description": {"for a test"}}
	d.done("/console/queues/bury", bury)
	if page := d.page("/console/queues/message?at=orders&part=dead&n=1", "&lt;b&gt;bad&lt;/b&gt;", "for a test"); strings.Contains(page, "/console/queues/bury") {
		t.Errorf("a dead letter can be buried:\n%s", page)
	}
	if got := d.pills("orders"); got != "1 1 0 1" {
		t.Errorf("tabs are %q", got)
	}
	if status, _ := d.post("/console/queues/bury", bury); status != http.StatusNotFound {
		t.Errorf("buried twice: %d", status)
	}
	if status, text := d.post("/console/queues/bury", with(bury, "n", "3")); status != http.StatusUnprocessableEntity || !strings.Contains(text, "is scheduled for later") {
		t.Errorf("what is scheduled: %d\n%s", status, text)
	}
	if status, _ := d.post("/console/queues/bury", with(bury, "reason", strings.Repeat("x", 5000))); status != http.StatusUnprocessableEntity {
		t.Errorf("a reason that is too long: %d", status)
	}
	receiver := must.Get(d.bus.NewReceiverForQueue("orders", nil))(t)
	taken := must.Get(receiver.ReceiveMessages(t.Context(), 1, nil))(t)
	if status, text := d.post("/console/queues/bury", with(bury, "n", "2")); status != http.StatusConflict {
		t.Errorf("what a receiver has: %d\n%s", status, text)
	}
	must.Do(t, receiver.CompleteMessage(t.Context(), taken[0], nil))
	dead := must.Get(d.bus.NewReceiverForQueue("orders", &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter}))(t)
	taken = must.Get(dead.ReceiveMessages(t.Context(), 1, nil))(t)
	if len(taken) != 1 || *taken[0].DeadLetterReason != "<b>bad</b>" || *taken[0].DeadLetterErrorDescription != "for a test" {
		t.Errorf("a receiver of dead letters gets %+v", taken)
	}
}
