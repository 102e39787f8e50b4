package browse_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestResubmit puts a dead letter back as it was sent, without the reason of its death.
func TestResubmit(t *testing.T) {
	w := open(t, queue("q"))
	id := amqp.UUID{1, 2, 3}
	raw := amqp.AppendHeader(nil, amqp.Header{Durable: true, Priority: 9, TTL: time.Hour})
	raw = amqp.AppendMessageAnnotations(raw, amqp.Map{{Key: amqp.Symbol("x-opt-partition-key"), Value: "p"}})
	raw = amqp.AppendProperties(raw, amqp.Properties{MessageID: id, Subject: "label"})
	raw = amqp.AppendApplicationProperties(raw, amqp.Map{{Key: "n", Value: int16(7)}, {Key: "list", Value: amqp.List{"a"}}})
	w.raw(append(raw, section(0x77, amqp.Map{{Key: "a", Value: int32(1)}})...))
	before := w.one("q", browse.Active)
	w.deadLetter(1)
	must.Do(w.t, w.Resubmit("q", browse.Dead, 1, nil, false))
	after := w.one("q", browse.Active)
	if life := after.Expires.Sub(after.Enqueued); life != time.Hour || after.Expires.Before(before.Expires) {
		t.Errorf("its time to live does not begin anew: it lives for %v", life)
	}
	before.Sequence, before.EnqueuedSequence, before.Enqueued, before.Expires = after.Sequence, after.EnqueuedSequence, after.Enqueued, after.Expires
	if diff := cmp.Diff(before, after, cmpopts.IgnoreUnexported(broker.Snapshot{})); diff != "" {
		t.Error(diff)
	}
	if err := w.Resubmit("q", browse.Dead, 1, nil, false); !browse.IsMissing(err) {
		t.Errorf("again: %v", err)
	}
}

// TestResubmitEdited changes what the draft has, and keeps what it has not: a body that no form can hold, and values of their types.
func TestResubmitEdited(t *testing.T) {
	w := open(t, queue("q"))
	raw := amqp.AppendProperties(nil, amqp.Properties{MessageID: uint64(5), ContentEncoding: "gzip"})
	raw = amqp.AppendApplicationProperties(raw, amqp.Map{{Key: "list", Value: amqp.List{"a"}}, {Key: "n", Value: int16(7)}})
	w.raw(append(raw, section(0x77, amqp.List{int64(1)})...))
	w.deadLetter(1)
	m := w.one("q", browse.Dead)
	edited := browse.Draft{MessageID: m.MessageID, Subject: "new", KeepBody: true, Properties: m.Properties[:2]}
	edited.Properties[1].Value = "8"
	must.Do(w.t, w.Resubmit("q", browse.Dead, 1, &edited, false))
	got := w.one("q", browse.Active)
	if got.Subject != "new" || got.ContentEncoding != "gzip" || got.MessageID != "5" || !bytes.Equal(got.Body.Raw, m.Body.Raw) {
		t.Errorf("it is %+v", got)
	}
	want := []browse.Property{{Name: "list", Type: "list", Value: m.Properties[0].Value}, {Name: "n", Type: "short", Value: "8"}}
	if diff := cmp.Diff(want, got.Properties); diff != "" {
		t.Error(diff)
	}
	w.deadLetter(1)
	edited = browse.Draft{Body: []byte("text"), Properties: []browse.Property{{Name: "n", Type: "int", Value: "many"}}}
	wrong := w.Resubmit("q", browse.Dead, got.Sequence, &edited, false)
	if wrong == nil || !strings.HasPrefix(wrong.Error(), `property "n": `) {
		t.Errorf("a draft that is wrong: %v", wrong)
	}
	if w.one("q", browse.Dead).Sequence != got.Sequence {
		t.Error("the dead letter is another one")
	}
}

// TestResubmitAll puts back what it can: what is held, refused or gone does not keep it from the others.
func TestResubmitAll(t *testing.T) {
	const total = 1000
	w := open(t, queue("q"))
	for i := range total {
		w.send("q", browse.Draft{MessageID: strconv.Itoa(i), Body: []byte("x"), SessionID: []string{"s", ""}[min(i, 1)]})
	}
	w.send("q", browse.Draft{Body: []byte(strings.Repeat("large", 1000))})
	w.deadLetter(total + 1)
	w.take("q/$DeadLetterQueue", 10, nil)
	e, err := w.Entity("q")
	must.Do(w.t, err)
	must.Do(w.t, w.limit("q", 1000))
	var notes []browse.Tally
	tally := must.Get(w.ResubmitAll(t.Context(), browse.Batch{Path: "q", Part: browse.Dead, Note: func(t browse.Tally) { notes = append(notes, t) }}))(w.t)
	if tally.Done != total-10 || tally.Held != 10 || tally.Refused != 1 || !strings.Contains(fmt.Sprint(tally.Why), "exceeds the limit of 1000 bytes") {
		t.Errorf("it is %+v", tally)
	}
	if len(notes) < 3 || notes[0].Done == 0 || notes[0].Done >= total {
		t.Errorf("on the way it was %+v", notes)
	}
	if e.DeadLetter != total+1 || len(w.texts(browse.Active)) != total-10 || len(w.texts(browse.Dead)) != 11 {
		t.Errorf("there are %d, and %d dead letters", len(w.texts(browse.Active)), len(w.texts(browse.Dead)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.deadLetter(3)
	if tally, err := w.ResubmitAll(ctx, browse.Batch{Path: "q", Part: browse.Dead}); !errors.Is(err, context.Canceled) || tally.Done != 0 {
		t.Errorf("one that is stopped: %+v, %v", tally, err)
	}
	tally, err = w.ResubmitAll(t.Context(), browse.Batch{Path: "q", Part: browse.Dead, Only: []int64{99_999}})
	if err != nil || tally.Done+tally.Held+tally.Refused != 0 {
		t.Errorf("one that is not there: %+v, %v", tally, err)
	}
}

// TestPurge deletes what there is when it begins, but what is held.
func TestPurge(t *testing.T) {
	const total = 20_000 // in three steps
	w := open(t, queue("q"))
	for range total {
		w.send("q", browse.Draft{Body: []byte("x")})
	}
	w.send("q", browse.Draft{Body: []byte("later"), Scheduled: time.Now().Add(time.Hour)})
	w.take("q", 5, nil)
	steps := 0
	tally, err := w.Purge(t.Context(), browse.Batch{Path: "q", Part: browse.Active, Note: func(browse.Tally) {
		steps++
		if steps == 1 {
			w.send("q", browse.Draft{Body: []byte("meanwhile")})
		}
	}})
	if err != nil || tally.Done != total-5 || tally.Held != 5 || steps < 2 {
		t.Errorf("it is %+v in %d steps, %v", tally, steps, err)
	}
	if got := w.texts(browse.Active); len(got) != 6 || got[5] != "meanwhile" {
		t.Errorf("what is left is %q", got)
	}
	if got := w.texts(browse.Scheduled); len(got) != 1 {
		t.Errorf("scheduled are %q", got)
	}
	if tally, err = w.Purge(t.Context(), browse.Batch{Path: "q", Part: browse.Scheduled}); tally.Done != 1 || err != nil {
		t.Errorf("scheduled: %+v, %v", tally, err)
	}
	if _, err := w.Purge(t.Context(), browse.Batch{Path: "none"}); !browse.IsMissing(err) {
		t.Errorf("a queue that is not there: %v", err)
	}
	tally, err = w.Purge(t.Context(), browse.Batch{Path: "q", Part: browse.Active, Only: []int64{1, total + 2, 99_999}})
	if err != nil || tally.Done != 1 || tally.Held != 1 || len(w.texts(browse.Active)) != 5 {
		t.Errorf("some of them: %+v, %v", tally, err)
	}
}
