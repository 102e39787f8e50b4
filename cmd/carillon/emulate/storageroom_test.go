package emulate_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

// TestStorage puts, peeks, takes and deletes messages of storage queues.
func TestStorage(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	for _, name := range []string{"letters", "letters-poison"} {
		must.Get(d.storage.CreateQueue(ctx, name, nil))(t)
	}
	letters, poison := d.storage.NewQueueClient("letters"), d.storage.NewQueueClient("letters-poison")
	must.Get(letters.EnqueueMessage(ctx, `{"plain":"<b>"}`, nil))(t)
	must.Get(letters.EnqueueMessage(ctx, "eyJiYXNlNjQiOiAiPGI+In0=", &azqueue.EnqueueMessageOptions{VisibilityTimeout: new(int32(600))}))(t)
	form := url.Values{"account": {storagequeue.DefaultAccount}, "queue": {"letters"}}
	d.done("/console/queues/storage/put", with(form, "text", "from the page", "encode", "1", "ttl", "1h"))
	at := "/console/queues/storage?" + form.Encode()
	page := d.page(at, "{&#34;plain&#34;:&#34;&lt;b&gt;&#34;}", "base64&#34;: &#34;&lt;b&gt;", "hidden until", "from the page", "3 messages", "1 of them hidden")
	ids := regexp.MustCompile(`id="l-([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(ids) != 3 {
		t.Fatalf("%d messages", len(ids))
	}
	one := "/console/queues/storage/message?" + with(form, "id", ids[1][1]).Encode()
	d.page(one, "Decoded", "&#34;base64&#34;: &#34;&lt;b&gt;&#34;", "How often a receiver got the message")
	d.page(one+"&view=text", "eyJiYXNlNjQiOiAiPGI&#43;In0=")
	peeked := must.Get(letters.PeekMessages(ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: new(int32(10))}))(t)
	if len(peeked.Messages) != 2 || *peeked.Messages[0].DequeueCount != 0 {
		t.Errorf("looking has changed something: %v", peeked.Messages)
	}
	d.page(at+"&q=FROM+THE", "letters") // what is encoded is not searched
	d.done("/console/queues/storage/delete", with(form, "id", ids[1][1]))
	if status, _ := d.post("/console/queues/storage/delete", with(form, "id", ids[1][1])); status != http.StatusNotFound {
		t.Errorf("deleted twice: %d", status)
	}
	must.Get(poison.EnqueueMessage(ctx, "failed", nil))(t)
	bad := url.Values{"account": {storagequeue.DefaultAccount}, "queue": {"letters-poison"}}
	page = d.page("/console/queues/storage?"+bad.Encode(), "Move back to letters", "failed")
	id := regexp.MustCompile(`id="l-([^"]+)"`).FindStringSubmatch(page)[1]
	d.done("/console/queues/storage/move", with(bad, "id", id))
	d.page("/console/queues/storage?"+bad.Encode(), "No active messages.")
	taken := must.Get(letters.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: new(int32(10))}))(t)
	var texts []string
	for _, m := range taken.Messages {
		texts = append(texts, *m.MessageText)
	}
	slices.Sort(texts)
	if want := []string{"ZnJvbSB0aGUgcGFnZQ==", "failed", `{"plain":"<b>"}`}; !slices.Equal(texts, want) {
		t.Errorf("the queue has %q, want %q", texts, want)
	}
	d.page("/console/queues/storage/clear?"+form.Encode(), "Delete the 3 messages of letters?")
	d.done("/console/queues/storage/clear", form)
	d.page(at, "0 messages")
	status, text := d.post("/console/queues/storage/put", with(form, "text", strings.Repeat("x", 70_000)))
	if status != http.StatusUnprocessableEntity || !strings.Contains(text, "a message may have 65536 bytes") {
		t.Errorf("too large: %d\n%s", status, text[:min(len(text), 2000)])
	}
}

// with returns a form with more.
func with(form url.Values, pairs ...string) url.Values {
	more := maps.Clone(form)
	for i := 0; i < len(pairs); i += 2 {
		more.Set(pairs[i], pairs[i+1])
	}
	return more
}

// TestMarkedLetters deletes and moves messages that were selected, in one go and with some of them gone.
func TestMarkedLetters(t *testing.T) {
	d := open(t)
	for _, name := range []string{"letters", "others", "third"} {
		must.Get(d.storage.CreateQueue(t.Context(), name, nil))(t)
	}
	for i := range 6 {
		must.Get(d.storage.NewQueueClient("letters").EnqueueMessage(t.Context(), strconv.Itoa(i), nil))(t)
	}
	const at = "account=devstoreaccount1&queue=letters"
	page := d.page("/console/queues/storage?"+at, `formaction="/console/queues/storage/move"`, `formaction="/console/queues/storage/delete"`)
	var ids []string
	for _, m := range regexp.MustCompile(`name="id" value="([^"]+)" form="marked"`).FindAllStringSubmatch(page, -1) {
		ids = append(ids, m[1])
	}
	if len(ids) != 6 {
		t.Fatalf("%d messages can be selected", len(ids))
	}
	for _, path := range []string{"delete", "move"} {
		if status, text, _ := d.get("/console/queues/storage/" + path + "?marked=1&" + at); status != http.StatusBadRequest || !strings.Contains(text, "No message is selected.") {
			t.Errorf("%s: %d\n%s", path, status, text)
		}
	}
	sent := func(page string) url.Values { return consoletest.Forms(t, page)[0].Values }
	form := sent(d.page("/console/queues/storage/delete?marked=1&"+at+"&id="+ids[0]+"&id="+ids[1], "Delete 2 selected messages of letters?"))
	d.done("/console/queues/storage/delete", form)
	d.page("/console/queues/storage?"+at, "4 messages")
	moved := sent(d.page("/console/queues/storage/move?marked=1&"+at+"&id="+ids[1]+"&id="+ids[2]+"&id="+ids[3], "Move 3 selected messages of letters?", ">third</option>"))
	if status, text := d.post("/console/queues/storage/move", with(moved, "to", "letters")); status != http.StatusNotFound || !strings.Contains(text, "No other queue letters exists in devstoreaccount1.") {
		t.Errorf("into itself: %d\n%s", status, text)
	}
	d.done("/console/queues/storage/move", with(moved, "to", "third"))
	d.page("/console/queues/storage?"+at, "2 messages")
	d.page("/console/queues/storage?account=devstoreaccount1&queue=third", "2 messages")
	d.page("/console/queues/storage/clear?account=devstoreaccount1&queue=others", "Nothing to move: others has no messages.")
	if status, _ := d.post("/console/queues/storage/delete", url.Values{"account": {"devstoreaccount1"}, "queue": {"letters"}}); status != http.StatusBadRequest {
		t.Errorf("none is named: %d", status)
	}
}

// TestPutAllBack moves all messages of a queue for what failed.
func TestPutAllBack(t *testing.T) {
	d := open(t)
	for _, name := range []string{"letters", "letters-poison"} {
		must.Get(d.storage.CreateQueue(t.Context(), name, nil))(t)
	}
	poison := d.storage.NewQueueClient("letters-poison")
	for i := range 7 {
		must.Get(poison.EnqueueMessage(t.Context(), strconv.Itoa(i), nil))(t)
	}
	form := url.Values{"account": {"devstoreaccount1"}, "queue": {"letters-poison"}, "all": {"1"}}
	d.page("/console/queues/storage?account=devstoreaccount1&queue=letters-poison", "Move all back to letters")
	d.page("/console/queues/storage/move?account=devstoreaccount1&queue=letters-poison", "Move all 7 messages of letters-poison?", "<option selected>letters</option>")
	d.done("/console/queues/storage/move", form)
	for name, want := range map[string]string{"letters": "7 messages", "letters-poison": "0 messages"} {
		d.page("/console/queues/storage?account=devstoreaccount1&queue="+name, want)
	}
	must.Get(d.storage.DeleteQueue(t.Context(), "letters", nil))(t)
	must.Get(poison.EnqueueMessage(t.Context(), "stays", nil))(t)
	if status, _ := d.post("/console/queues/storage/move", form); status != http.StatusNotFound {
		t.Errorf("there is nothing to put it back into: %d", status)
	}
	d.page("/console/queues/storage?account=devstoreaccount1&queue=letters-poison", "one message")
}
