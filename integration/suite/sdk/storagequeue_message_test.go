package sdk

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func TestStorageQueueMessage(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	before := time.Now().Truncate(time.Second)
	put := w.put(q, "hello", nil)
	if put.InsertionTime.Before(before) || put.ExpirationTime.Sub(*put.InsertionTime) != 7*24*time.Hour ||
		!put.TimeNextVisible.Equal(*put.InsertionTime) || *put.PopReceipt == "" {
		t.Errorf("put: got %+v", put)
	}
	for range 2 {
		seen := w.peek(q, 32)
		if len(seen) != 1 || *seen[0].MessageID != *put.MessageID || *seen[0].MessageText != "hello" || *seen[0].DequeueCount != 0 {
			t.Fatalf("peek: got %+v", seen)
		}
	}
	got := w.takeOne(q, 60)
	if *got.MessageID != *put.MessageID || *got.MessageText != "hello" || *got.DequeueCount != 1 || *got.PopReceipt == *put.PopReceipt {
		t.Errorf("get: got %+v", got)
	}
	if hidden := time.Until(*got.TimeNextVisible); hidden < 50*time.Second || hidden > 61*time.Second {
		t.Errorf("hidden for %s", hidden)
	}
	if again, seen := w.take(q, 32, 60), w.peek(q, 32); len(again) != 0 || len(seen) != 0 {
		t.Errorf("it is not hidden: %v, %v", again, seen)
	}
	_, err := q.DeleteMessage(w.ctx, *put.MessageID, *put.PopReceipt, nil)
	w.refused(err, http.StatusBadRequest, queueerror.PopReceiptMismatch)
	must.Get(q.DeleteMessage(w.ctx, *got.MessageID, *got.PopReceipt, nil))(w.t)
	_, err = q.DeleteMessage(w.ctx, *got.MessageID, *got.PopReceipt, nil)
	w.refused(err, http.StatusNotFound, queueerror.MessageNotFound)
}

func TestStorageQueuePutReceipt(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	put := w.put(q, "hello", &azqueue.EnqueueMessageOptions{VisibilityTimeout: seconds(60)})
	if _, err := q.DeleteMessage(w.ctx, *put.MessageID, *put.PopReceipt, nil); err != nil {
		t.Errorf("a message cannot be deleted by who put it: %v", err)
	}
}

func TestStorageQueueTexts(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	for _, text := range []string{
		"", " leading and trailing ", "<a href=\"x\">&amp;</a>", "line\nline\ttab", "]]>", "äöü€ ёжик 🔔",
		strings.Repeat("x", 64<<10), strings.Repeat("\"", 32<<10), `{"a": 1}`,
	} {
		w.put(q, text, nil)
		got := w.takeOne(q, 60)
		if *got.MessageText != text {
			t.Errorf("got %.100q, want %.100q", *got.MessageText, text)
		}
		must.Get(q.DeleteMessage(w.ctx, *got.MessageID, *got.PopReceipt, nil))(w.t)
	}
}

func TestStorageQueueTooLarge(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	put := w.put(q, "small", &azqueue.EnqueueMessageOptions{VisibilityTimeout: seconds(60)})
	for _, size := range []int{64<<10 + 1, 100 << 10, 1 << 20} {
		_, err := q.EnqueueMessage(w.ctx, strings.Repeat("x", size), nil)
		w.refused(err, http.StatusRequestEntityTooLarge, queueerror.RequestBodyTooLarge)
		_, err = q.UpdateMessage(w.ctx, *put.MessageID, *put.PopReceipt, strings.Repeat("x", size), nil)
		w.refused(err, http.StatusRequestEntityTooLarge, queueerror.RequestBodyTooLarge)
	}
}

func TestStorageQueueOrder(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	for i := range 40 {
		w.put(q, strconv.Itoa(i), nil)
	}
	var got []string
	for _, n := range []int32{1, 32, 32} {
		messages := w.take(q, n, 60)
		if len(messages) > int(n) {
			t.Errorf("got %d messages, want at most %d", len(messages), n)
		}
		for _, message := range messages {
			got = append(got, *message.MessageText)
		}
	}
	if len(got) != 40 || !slices.IsSortedFunc(got, func(a, b string) int { return len(a) - len(b) }) || got[39] != "39" {
		t.Errorf("got %q", got)
	}
	one, err := q.DequeueMessage(w.ctx, nil)
	if err != nil || len(one.Messages) != 0 {
		t.Errorf("the queue is empty: got %d, %v", len(one.Messages), err)
	}
}

func TestStorageQueueTimeToLive(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	forever := w.put(q, "forever", &azqueue.EnqueueMessageOptions{TimeToLive: seconds(-1)})
	if got := forever.ExpirationTime.UTC().Format(time.DateTime); got != "9999-12-31 23:59:59" {
		t.Errorf("got %s", got)
	}
	long := w.put(q, "long", &azqueue.EnqueueMessageOptions{TimeToLive: seconds(1 << 30)})
	if got := long.ExpirationTime.Sub(*long.InsertionTime); got != 1<<30*time.Second {
		t.Errorf("got %s", got)
	}
	short := w.put(q, "short", &azqueue.EnqueueMessageOptions{TimeToLive: seconds(1)})
	w.until("the message expires", func() bool { return len(w.peek(q, 32)) == 2 })
	_, err := q.DeleteMessage(w.ctx, *short.MessageID, *short.PopReceipt, nil)
	w.refused(err, http.StatusNotFound, queueerror.MessageNotFound)
	properties, err := q.GetProperties(w.ctx, nil)
	if err != nil || *properties.ApproximateMessagesCount != 2 {
		t.Errorf("got %d messages, %v", *properties.ApproximateMessagesCount, err)
	}
}

func TestStorageQueueVisibility(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	w.put(q, "later", &azqueue.EnqueueMessageOptions{VisibilityTimeout: seconds(2)})
	if messages := w.peek(q, 32); len(messages) != 0 {
		t.Errorf("it is visible at once: %v", messages)
	}
	first := w.takeOne(q, 1)
	second := w.takeOne(q, 60)
	if *second.DequeueCount != 2 || *second.PopReceipt == *first.PopReceipt || *second.MessageID != *first.MessageID {
		t.Errorf("got %+v, then %+v", first, second)
	}
	_, err := q.DeleteMessage(w.ctx, *first.MessageID, *first.PopReceipt, nil)
	w.refused(err, http.StatusBadRequest, queueerror.PopReceiptMismatch)
	_, err = q.UpdateMessage(w.ctx, *first.MessageID, *first.PopReceipt, "stale", nil)
	w.refused(err, http.StatusBadRequest, queueerror.PopReceiptMismatch)
	must.Get(q.DeleteMessage(w.ctx, *second.MessageID, *second.PopReceipt, nil))(w.t)
}

// TestStorageQueueLateDelete deletes a message that has become visible again and that nobody else has taken.
func TestStorageQueueLateDelete(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	w.put(q, "slow", nil)
	got := w.takeOne(q, 1)
	w.until("it is visible again", func() bool { return len(w.peek(q, 1)) == 1 })
	must.Get(q.DeleteMessage(w.ctx, *got.MessageID, *got.PopReceipt, nil))(t)
}

func TestStorageQueueUpdate(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	w.put(q, "first", nil)
	got := w.takeOne(q, 60)
	var answer *http.Response
	updated, err := q.UpdateMessage(policy.WithCaptureResponse(w.ctx, &answer), *got.MessageID, *got.PopReceipt, "second",
		&azqueue.UpdateMessageOptions{VisibilityTimeout: seconds(30)})
	must.Do(w.t, err)
	if answer.StatusCode != http.StatusNoContent || *updated.PopReceipt == *got.PopReceipt {
		t.Errorf("got %d %+v", answer.StatusCode, updated)
	}
	if hidden := time.Until(*updated.TimeNextVisible); hidden < 20*time.Second || hidden > 31*time.Second {
		t.Errorf("hidden for %s", hidden)
	}
	_, err = q.UpdateMessage(w.ctx, *got.MessageID, *got.PopReceipt, "third", nil)
	w.refused(err, http.StatusBadRequest, queueerror.PopReceiptMismatch)
	// No timeout makes it visible, and does not count.
	shown := must.Get(q.UpdateMessage(w.ctx, *got.MessageID, *updated.PopReceipt, "third", nil))(w.t)
	seen := w.peek(q, 1)
	if len(seen) != 1 || *seen[0].MessageText != "third" || *seen[0].DequeueCount != 1 {
		t.Errorf("got %+v", seen)
	}
	// No body leaves the text.
	address := fmt.Sprintf("%s/orders/messages/%s?visibilitytimeout=0&popreceipt=%s", w.url, *got.MessageID, escaped(*shown.PopReceipt))
	if reply := w.request(http.MethodPut, address, "", nil); reply.status != http.StatusNoContent ||
		reply.header.Get("x-ms-popreceipt") == "" || reply.header.Get("x-ms-time-next-visible") == "" {
		t.Errorf("without a body: got %d %s", reply.status, reply.body)
	}
	if again := w.takeOne(q, 60); *again.MessageText != "third" || *again.DequeueCount != 2 {
		t.Errorf("got %+v", again)
	}
	_, err = q.UpdateMessage(w.ctx, "nothing", "x", "x", nil)
	w.refused(err, http.StatusNotFound, queueerror.MessageNotFound)
}

// TestStorageQueueUpdateBeyondExpiry cannot hide a message for longer than it lives.
func TestStorageQueueUpdateBeyondExpiry(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	put := w.put(q, "short", &azqueue.EnqueueMessageOptions{TimeToLive: seconds(60)})
	_, err := q.UpdateMessage(w.ctx, *put.MessageID, *put.PopReceipt, "x", &azqueue.UpdateMessageOptions{VisibilityTimeout: seconds(120)})
	if deviation(t, "it hides messages beyond their end", false, true) {
		must.Do(w.t, err)
	} else {
		w.refused(err, http.StatusBadRequest, queueerror.OutOfRangeQueryParameterValue)
	}
}

func TestStorageQueueClear(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	w.put(q, "a", nil)
	w.put(q, "b", nil)
	w.take(q, 1, 60)
	must.Get(q.ClearMessages(w.ctx, nil))(w.t)
	properties, err := q.GetProperties(w.ctx, nil)
	if err != nil || *properties.ApproximateMessagesCount != 0 {
		t.Errorf("got %d messages, %v", *properties.ApproximateMessagesCount, err)
	}
}

func TestStorageQueueMessageErrors(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	put := w.put(q, "x", nil)
	enqueue := func(ttl, hidden *int32) error {
		_, err := q.EnqueueMessage(w.ctx, "x", &azqueue.EnqueueMessageOptions{TimeToLive: ttl, VisibilityTimeout: hidden})
		return err
	}
	dequeue := func(n, hidden *int32) error {
		_, err := q.DequeueMessages(w.ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: n, VisibilityTimeout: hidden})
		return err
	}
	peek := func(n int32) error {
		_, err := q.PeekMessages(w.ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: &n})
		return err
	}
	update := func(hidden int32) error {
		_, err := q.UpdateMessage(w.ctx, *put.MessageID, *put.PopReceipt, "x", &azqueue.UpdateMessageOptions{VisibilityTimeout: &hidden})
		return err
	}
	const week = 7 * 24 * 60 * 60
	for _, test := range []struct {
		err  error
		code queueerror.Code
	}{
		{enqueue(seconds(0), nil), queueerror.InvalidQueryParameterValue},
		{enqueue(seconds(-2), nil), queueerror.InvalidQueryParameterValue},
		{enqueue(seconds(5), seconds(5)), queueerror.InvalidQueryParameterValue},
		{enqueue(nil, seconds(-1)), queueerror.OutOfRangeQueryParameterValue},
		{enqueue(nil, seconds(week+1)), queueerror.OutOfRangeQueryParameterValue},
		{dequeue(seconds(0), nil), queueerror.OutOfRangeQueryParameterValue},
		{dequeue(seconds(33), nil), queueerror.OutOfRangeQueryParameterValue},
		{dequeue(nil, seconds(0)), queueerror.OutOfRangeQueryParameterValue},
		{dequeue(nil, seconds(week+1)), queueerror.OutOfRangeQueryParameterValue},
		{peek(0), queueerror.OutOfRangeQueryParameterValue},
		{peek(33), queueerror.OutOfRangeQueryParameterValue},
		{update(-1), queueerror.OutOfRangeQueryParameterValue},
		{update(week + 1), queueerror.OutOfRangeQueryParameterValue},
	} {
		w.badNumber(test.err, test.code)
	}

	nothing := w.service.NewQueueClient("nothing")
	_, err := nothing.EnqueueMessage(w.ctx, "x", nil)
	w.refused(err, http.StatusNotFound, queueerror.QueueNotFound)
	_, err = nothing.DequeueMessage(w.ctx, nil)
	w.refused(err, http.StatusNotFound, queueerror.QueueNotFound)
	_, err = nothing.PeekMessage(w.ctx, nil)
	w.refused(err, http.StatusNotFound, queueerror.QueueNotFound)
	_, err = nothing.ClearMessages(w.ctx, nil)
	w.refused(err, http.StatusNotFound, queueerror.QueueNotFound)
	_, err = nothing.UpdateMessage(w.ctx, "x", "x", "x", nil)
	w.refused(err, http.StatusNotFound, queueerror.QueueNotFound)
	_, err = nothing.DeleteMessage(w.ctx, "x", "x", nil)
	w.refused(err, http.StatusNotFound, queueerror.QueueNotFound)
}

func TestStorageQueueBadBodies(t *testing.T) {
	w := newStorage(t)
	w.queue("orders")
	differs := deviation(t, "it takes some wrong documents, and answers others without a code", false, true)
	for _, test := range []struct {
		body, code string
		azurites   string // status and code
	}{
		{"<QueueMessage><MessageText>x", "InvalidXmlDocument", "400"},
		{"nonsense", "InvalidXmlDocument", "400"},
		{"<Other><MessageText>x</MessageText></Other>", "InvalidXmlDocument", "201"},
		{"<QueueMessage></QueueMessage>", "InvalidXmlDocument", "400 InvalidXmlDocument"},
		{"<QueueMessage><Text>x</Text></QueueMessage>", "InvalidXmlDocument", "400 InvalidXmlDocument"},
		{"<QueueMessage><MessageText><b/></MessageText></QueueMessage>", "UnsupportedXmlNode", "400"},
		{"<QueueMessage><MessageText>&#0;</MessageText></QueueMessage>", "InvalidXmlDocument", "400"},
		{"<!DOCTYPE x [<!ENTITY a \"b\">]><QueueMessage><MessageText>&a;</MessageText></QueueMessage>", "InvalidXmlDocument", "400"},
	} {
		reply := w.request(http.MethodPost, w.url+"/orders/messages", test.body, nil)
		want := "400 " + test.code
		if differs {
			want = test.azurites
		}
		if got := reply.summary(); got != want {
			t.Errorf("%s: got %s, want %s; %s", test.body, got, want, reply.body)
		}
	}
	reply := w.request(http.MethodPut, w.url+"/orders/messages/x?visibilitytimeout=0", "", nil)
	if reply.status != http.StatusBadRequest {
		t.Errorf("without a receipt: got %d", reply.status)
	}
	reply = w.request(http.MethodPut, w.url+"/orders/messages/x?popreceipt=x", "", nil)
	if reply.status != http.StatusBadRequest {
		t.Errorf("without a timeout: got %d", reply.status)
	}
}

// TestStorageQueueAtLeastOnce has several workers on one queue: every message is taken by one of them.
func TestStorageQueueAtLeastOnce(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	const messages, workers = 120, 4
	for i := range messages {
		w.put(q, strconv.Itoa(i), nil)
	}
	taken := make(chan string, messages*2)
	failed := make(chan error, workers)
	for range workers {
		go func() {
			for {
				got, err := q.DequeueMessages(w.ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: new(int32(5)), VisibilityTimeout: seconds(60)})
				if err != nil || len(got.Messages) == 0 {
					failed <- err
					return
				}
				for _, message := range got.Messages {
					taken <- *message.MessageText
					if _, err := q.DeleteMessage(w.ctx, *message.MessageID, *message.PopReceipt, nil); err != nil {
						failed <- err
						return
					}
				}
			}
		}()
	}
	for range workers {
		must.Do(w.t, <-failed)
	}
	close(taken)
	seen := map[string]int{}
	for text := range taken {
		seen[text]++
	}
	if len(seen) != messages {
		t.Errorf("got %d of %d messages", len(seen), messages)
	}
	for text, times := range seen {
		if times != 1 {
			t.Errorf("%s was taken %d times", text, times)
		}
	}
}
