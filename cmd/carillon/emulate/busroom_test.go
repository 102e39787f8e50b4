package emulate_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestMessages sends messages of all kinds with the SDK, and finds them in the pages.
func TestMessages(t *testing.T) {
	d := open(t)
	later := time.Now().Add(time.Hour)
	uuid := "0193c8a1-1111-7000-8000-000000000001"
	d.send("orders", &azservicebus.Message{
		Body: []byte(`{"a":[1,{"b":"<script>alert(1)</script>"}]}`), MessageID: new("one"), ContentType: new("application/json"),
		Subject: new("order"), CorrelationID: new("c"), ReplyTo: new("answers"), To: new("somebody"), TimeToLive: new(time.Hour),
		ApplicationProperties: map[string]any{
			"s": "text", "b": true, "i8": int8(-8), "i16": int16(-16), "i32": int32(-32), "i64": int64(-64), "u8": uint8(8), "u16": uint16(16),
			"u32": uint32(32), "u64": uint64(64), "f32": float32(1.5), "f64": 2.25, "at": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "bytes": []byte{1, 0xfe},
			"<i>name</i>": "\u202Eevil\x07",
		},
	}, &azservicebus.Message{Body: []byte("later"), ScheduledEnqueueTime: &later}, &azservicebus.Message{Body: []byte{0, 0xff, 1}, MessageID: &uuid})
	page := d.page("/console/queues/message?at=orders&n=1", `&lt;script&gt;alert(1)&lt;/script&gt;`, "application/json", "1 hour", "i16", "short", "-16",
		"ulong", "double", "2.25", "timestamp", "2026-01-02T03:04:05Z", "binary", "01fe", "⟦U&#43;202E⟧evil␇", "&lt;i&gt;name&lt;/i&gt;", "answers",
		"Filters refer to it as sys.Label.")
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<i>name") || strings.ContainsRune(page, '\u202E') {
		t.Error("a message is markup in its page, or turns the page's text")
	}
	if got := d.pills("orders"); got != "2 1 0 0" {
		t.Errorf("tabs are %q", got)
	}
	d.page("/console/queues/entity?at=orders&part=scheduled", "later")
	d.page("/console/queues/message?at=orders&n=3", "00000000  00 ff 01")
	d.page("/console/queues/message?at=orders&n=1&view=text", `{&#34;a&#34;:[1`)
	d.page("/console/queues/message?at=orders&n=3&view=json", "Not JSON")
	status, body, header := d.get("/console/queues/body?at=orders&n=1")
	if status != http.StatusOK || body != `{"a":[1,{"b":"<script>alert(1)</script>"}]}` || header.Get("Content-Type") != "application/octet-stream" ||
		!strings.HasPrefix(header.Get("Content-Disposition"), "attachment") || header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the download is %d %q with %v", status, body, header)
	}
	d.page("/console/queues", "orders", "deep/er", `id="e-events/Subscriptions/dear"`, `<td class="number">2</td>`)
	d.page("/console/queues/entity?at=orders", "At most 14 days per message.", "A receiver locks a message for 1 minute", "After 3 failed deliveries")
	d.page("/console/queues/entity?at=deep/er", "No active messages.")
	for path, want := range map[string]int{
		"/console/queues/entity?at=nothing": 404, "/console/queues/message?at=orders&n=99": 404, "/console/queues/message?at=orders&n=x": 400,
		"/console/queues/entity?at=orders/$DeadLetterQueue": 404, "/console/queues/rules?at=nothing": 404, "/console/queues/storage?account=a&queue=b": 404,
	} {
		if status, body, _ := d.get(path); status != want {
			t.Errorf("%s: %d, want %d\n%s", path, status, want, body)
		}
	}
	if status, _, _ := d.get("/console/queues/entity?at=made-by-looking"); status != http.StatusNotFound {
		t.Errorf("looking has made a queue")
	}
}

// TestPeekChangesNothing looks at everything and then receives: nothing is locked, and nothing is counted.
func TestPeekChangesNothing(t *testing.T) {
	d := open(t)
	d.send("orders", &azservicebus.Message{Body: []byte("one")}, &azservicebus.Message{Body: []byte("two")})
	for range 5 {
		d.page("/console/queues/entity?at=orders", "one", "two")
		d.page("/console/queues/message?at=orders&n=1", "one")
	}
	receiver, all := d.receive("orders", 2)
	for i, m := range all {
		if *m.SequenceNumber != int64(i+1) || m.DeliveryCount != 0 && m.DeliveryCount != 1 {
			t.Errorf("message %d has number %d and count %d", i, *m.SequenceNumber, m.DeliveryCount)
		}
	}
	d.page("/console/queues/entity?at=orders", "locked by a receiver")
	for _, form := range []string{"delete", "purge"} {
		status, _ := d.post("/console/queues/"+form, url.Values{"at": {"orders"}, "part": {"active"}, "n": {"1"}})
		if form == "delete" && status != http.StatusConflict {
			t.Errorf("%s of a message that is held: %d", form, status)
		}
	}
	for _, m := range all { // they are still there
		must.Do(t, receiver.CompleteMessage(t.Context(), m, nil))
	}
	if got := d.pills("orders"); got != "0 0 0 0" {
		t.Errorf("tabs are %q", got)
	}
}

// TestSend sends through the form, and receives with the SDK.
func TestSend(t *testing.T) {
	d := open(t)
	d.page("/console/queues/send?at=sessions", "Session id", "required")
	status, text := d.post("/console/queues/send", url.Values{"at": {"sessions"}, "body": {"x"}})
	if status != http.StatusUnprocessableEntity || !strings.Contains(text, "SessionId was not set") {
		t.Errorf("without a session: %d\n%s", status, text)
	}
	at := time.Now().Add(2 * time.Hour).UTC().Truncate(time.Second)
	d.done("/console/queues/send", url.Values{
		"at": {"sessions"}, "body": {"aGVsbG8="}, "bodyas": {"base64"}, "session": {"s"}, "contenttype": {"text/plain"}, "messageid": {"m"}, "ttl": {"1h"},
		"pname": {"u", "when", "none", "d", ""}, "ptype": {"uuid", "timestamp", "null", "double", "string"},
		"pvalue": {"0193c8a1-1111-7000-8000-000000000001", "2026-01-02T03:04:05Z", "", "0.5", ""},
	})
	d.done("/console/queues/send", url.Values{"at": {"orders"}, "body": {"later"}, "scheduled": {at.Format("2006-01-02T15:04:05")}})
	d.page("/console/queues/entity?at=orders&part=scheduled", at.Format(time.RFC3339))
	session := must.Get(d.bus.AcceptSessionForQueue(t.Context(), "sessions", "s", nil))(t)
	all := must.Get(session.ReceiveMessages(t.Context(), 1, nil))(t)
	m := all[0]
	if string(m.Body) != "hello" || m.MessageID != "m" || *m.ContentType != "text/plain" || *m.TimeToLive != time.Hour ||
		m.ApplicationProperties["d"] != 0.5 || fmt.Sprint(m.ApplicationProperties["when"]) != "2026-01-02 03:04:05 +0000 UTC" {
		t.Errorf("it is %q %v", m.Body, m.ApplicationProperties)
	}
	for field, form := range map[string]url.Values{
		"is not a time": {"scheduled": {"tomorrow"}}, "is not hex": {"body": {"zz"}, "bodyas": {"hex"}}, "has no name": {"pname": {""}, "ptype": {"int"}, "pvalue": {"1"}},
		`property &#34;n&#34;`: {"pname": {"n"}, "ptype": {"byte"}, "pvalue": {"300"}},
	} {
		form.Set("at", "orders")
		if status, text := d.post("/console/queues/send", form); status != http.StatusUnprocessableEntity || !strings.Contains(text, field) {
			t.Errorf("%v: %d, want %q\n%s", form, status, field, text)
		}
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/console/queues/send", strings.NewReader("at=orders&body=x")))(t)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", "https://elsewhere.example")
	answer, err := d.browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("a page of elsewhere may send: %d", answer.StatusCode)
	}
}

// TestRules asks about a message that is written, and about one that is there.
func TestRules(t *testing.T) {
	d := open(t)
	d.page("/console/queues/rules?at=events/Subscriptions/dear", "price &gt; 10 AND sys.Label = &#39;order&#39;", "SET tier = &#39;gold&#39;; REMOVE gift", "<bdi>side</bdi> = <bdi>north</bdi>")
	form := url.Values{
		"at": {"events"}, "subject": {"order"}, "pname": {"price", "gift"}, "ptype": {"int", "boolean"}, "pvalue": {"12", "true"},
	}
	status, text := d.post("/console/queues/rules", form)
	for _, want := range []string{
		"2 subscriptions would receive it.", "price &gt; 10", "price is <code><bdi>12</bdi></code> (int)", "side is not set", "tier", "&#34;gold&#34;", "is removed",
		"The rule matches every message.",
	} {
		if status != http.StatusOK || !strings.Contains(regexp.MustCompile(`\s+`).ReplaceAllString(text, " "), want) {
			t.Errorf("no %q in %d\n%s", want, status, text)
		}
	}
	form["pvalue"] = []string{"9", "true"}
	if _, text = d.post("/console/queues/rules", form); !strings.Contains(text, "One subscription would receive it.") {
		t.Errorf("a cheap one:\n%s", text)
	}
	d.send("events", &azservicebus.Message{Subject: new("order"), ApplicationProperties: map[string]any{"price": "dear"}})
	d.page("/console/queues/rules?at=events/Subscriptions/dear&from=events/Subscriptions/all&n=1", "It does not pass.", "unknown, so no")
	if got := d.pills("events/Subscriptions/all"); got != "1 0 0 0" {
		t.Errorf("asking has changed something: %q", got)
	}
}

// TestPages reads many messages in pages, and searches among them.
func TestPages(t *testing.T) {
	d := open(t)
	var messages []*azservicebus.Message
	for i := range 120 {
		messages = append(messages, &azservicebus.Message{MessageID: new("m"), Body: fmt.Appendf(nil, "message %d of many", i), ApplicationProperties: map[string]any{"who": fmt.Sprintf("Customer-%d", i)}})
	}
	d.send("orders", messages...)
	var seen []string
	for path := "/console/queues/entity?at=orders"; path != ""; {
		page := d.page(path)
		seen = append(seen, numbered(page)...)
		next := regexp.MustCompile(`href="([^"]*)" rel="next"`).FindStringSubmatch(page)
		if path = ""; next != nil {
			path = strings.ReplaceAll(next[1], "&amp;", "&")
		}
	}
	if len(seen) != 120 || seen[119] != "120" {
		t.Errorf("pages have %d messages: %v", len(seen), seen)
	}
	for search, want := range map[string][]string{"customer-77": {"78"}, "Message 119 OF": {"120"}, "55": {"55", "56"}, "none of them": nil, "\xff\xfe": nil} {
		if got := numbered(d.page("/console/queues/entity?at=orders&q=" + url.QueryEscape(search))); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", search, got, want)
		}
	}
}

// TestHugeBody looks at a message of 100 MB: that needs no memory to speak of.
func TestHugeBody(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what needs some hundred megabytes: go test ./cmd/carillon/emulate")
	}
	d := open(t)
	d.send("orders", &azservicebus.Message{Body: bytes.Repeat([]byte("0123456789"), 10<<20)})
	for _, path := range []string{
		"/console/queues/entity?at=orders", "/console/queues/message?at=orders&n=1", "/console/queues/message?at=orders&n=1&view=hex",
		"/console/queues/entity?at=orders&q=none", "/console/queues/resubmit?at=orders&n=1",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		page := d.page(path)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 || len(page) > 300<<10 {
			t.Errorf("%s: %d kB of memory for a page of %d kB", path, got>>10, len(page)>>10)
		}
	}
}

// TestLargeBody shows the beginning of a large body, and downloads all.
func TestLargeBody(t *testing.T) {
	d := open(t)
	body := []byte(strings.Repeat("0123456789 ü ", 500_000))
	d.send("orders", &azservicebus.Message{Body: body})
	page := d.page("/console/queues/message?at=orders&n=1", "Download the body to see all of it.")
	if len(page) > 300<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
	_, got, header := d.get("/console/queues/body?at=orders&n=1")
	if got != string(body) || header.Get("Content-Length") != strconv.Itoa(len(body)) {
		t.Errorf("the download has %d bytes", len(got))
	}
}

// TestValueBodies has bodies of AMQP values and sequences.
func TestValueBodies(t *testing.T) {
	d := open(t)
	sender := must.Get(d.bus.NewSender("orders", nil))(t)
	for _, body := range []azservicebus.AMQPAnnotatedMessageBody{
		{Value: "a <i>text</i>"},
		{Value: map[string]any{"k": []any{int64(1), "two", nil}}},
		{Sequence: [][]any{{"one", int32(2)}, {true}}},
		{Data: [][]byte{[]byte("two "), []byte("sections")}},
		{Value: int64(42)},
	} {
		must.Do(t, sender.SendAMQPAnnotatedMessage(t.Context(), &azservicebus.AMQPAnnotatedMessage{Body: body}, nil))
	}
	d.page("/console/queues/message?at=orders&n=1", "a &lt;i&gt;text&lt;/i&gt;", "AMQP value of type string")
	d.page("/console/queues/message?at=orders&n=2", "AMQP value of type map", "&#34;k&#34;: [", "&#34;two&#34;", "null")
	d.page("/console/queues/message?at=orders&n=3", "AMQP sequence", "&#34;one&#34;", "true")
	d.page("/console/queues/message?at=orders&n=4", "two sections")
	d.page("/console/queues/message?at=orders&n=5", "AMQP value of type long", ">42<")
	d.page("/console/queues/message?at=orders&n=2&view=hex", "00000000  00 53 77")
	for n, want := range map[int]string{1: "a <i>text</i>", 4: "two sections"} {
		if _, got, _ := d.get("/console/queues/body?at=orders&n=" + strconv.Itoa(n)); got != want {
			t.Errorf("the download of %d is %q, want %q", n, got, want)
		}
	}
}

// TestSessions shows what belongs to sessions.
func TestSessions(t *testing.T) {
	d := open(t)
	d.send("sessions", &azservicebus.Message{Body: []byte("x"), SessionID: new("cart-7")}, &azservicebus.Message{Body: []byte("y"), SessionID: new("cart-8")})
	d.page("/console/queues/entity?at=sessions", "cart-7", "cart-8", "requires sessions")
	session := must.Get(d.bus.AcceptSessionForQueue(t.Context(), "sessions", "cart-7", nil))(t)
	all := must.Get(session.ReceiveMessages(t.Context(), 1, nil))(t)
	must.Do(t, session.DeadLetterMessage(t.Context(), all[0], nil))
	must.Do(t, session.Close(t.Context()))
	d.done("/console/queues/resubmit", url.Values{"at": {"sessions"}, "part": {"dead"}, "n": {"1"}})
	session = must.Get(d.bus.AcceptSessionForQueue(t.Context(), "sessions", "cart-7", nil))(t)
	all = must.Get(session.ReceiveMessages(t.Context(), 1, nil))(t)
	if string(all[0].Body) != "x" || *all[0].SessionID != "cart-7" {
		t.Errorf("it is %q of %v", all[0].Body, all[0].SessionID)
	}
}

// TestDeferred shows and deletes messages that are deferred.
func TestDeferred(t *testing.T) {
	d := open(t)
	d.send("orders", &azservicebus.Message{Body: []byte("put off")}, &azservicebus.Message{Body: []byte("other")})
	receiver, all := d.receive("orders", 1)
	must.Do(t, receiver.DeferMessage(t.Context(), all[0], nil))
	must.Do(t, receiver.Close(t.Context()))
	if got := d.pills("orders"); got != "1 0 1 0" {
		t.Errorf("tabs are %q", got)
	}
	if got := numbered(d.page("/console/queues/entity?at=orders&part=deferred", "put off")); len(got) != 1 {
		t.Errorf("deferred are %v", got)
	}
	d.done("/console/queues/delete", url.Values{"at": {"orders"}, "part": {"deferred"}, "n": {"1"}})
	if got := d.pills("orders"); got != "1 0 0 0" {
		t.Errorf("tabs are %q", got)
	}
}

// TestLive has the list follow what happens, and say nothing when nothing does.
func TestLive(t *testing.T) {
	d := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/console/queues/entity/events?follow=1&at=orders", http.NoBody))(t)
	answer, err := d.browser.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var heard strings.Builder
	buffer := make([]byte, 64<<10)
	until := func(want string) {
		t.Helper()
		for !strings.Contains(heard.String(), want) {
			n, err := answer.Body.Read(buffer)
			heard.Write(buffer[:n])
			must.Do(t, err)
		}
	}
	until("No active messages.")
	if n := strings.Count(heard.String(), "event: messages"); n != 1 {
		t.Errorf("%d times the same", n)
	}
	d.send("orders", &azservicebus.Message{Body: []byte("it has come")})
	until("it has come")
	if n := strings.Count(heard.String(), "event: messages"); n != 2 {
		t.Errorf("messages came %d times, want 2", n)
	}
}

// TestCopy opens the form of a message that is like another one, of which everything is there but its id.
func TestCopy(t *testing.T) {
	d := open(t)
	d.send("orders", &azservicebus.Message{
		Body: []byte{0, 0xff}, MessageID: new("its-own"), Subject: new("label"), ApplicationProperties: map[string]any{"n": int64(7)},
	})
	d.send("events", &azservicebus.Message{Body: []byte("text <b>")})
	d.page("/console/queues/message?at=orders&n=1", "/console/queues/send?at=orders&amp;from=orders&amp;n=1&amp;part=active")
	page := d.page("/console/queues/send?at=orders&from=orders&n=1&part=active", "AP8=", `value="base64" selected`, `value="label"`, `value="n"`,
		"<option selected>long</option>", "7</textarea>")
	if strings.Contains(page, "its-own") {
		t.Errorf("its id is that of the other:\n%s", page)
	}
	d.page("/console/queues/message?at=events/Subscriptions/all&n=1", "/console/queues/send?at=events&amp;from=events%2FSubscriptions%2Fall")
	d.page("/console/queues/send?at=events&from=events/Subscriptions/all&n=1", "text &lt;b&gt;</textarea>")
	if status, _, _ := d.get("/console/queues/send?at=orders&from=orders&n=99"); status != http.StatusNotFound {
		t.Errorf("a copy of none: %d", status)
	}
}

// TestNewest reads messages from the last one on, and goes from one to the one before.
func TestNewest(t *testing.T) {
	d := open(t)
	for range 60 {
		d.send("orders", &azservicebus.Message{Body: []byte("x")})
	}
	page := d.page("/console/queues/entity?at=orders&order=newest", `<option value="newest" selected>`, "from=10&amp;order=newest")
	if got := numbered(page); len(got) != 50 || got[0] != "60" || got[49] != "11" {
		t.Errorf("the newest are %v", got)
	}
	if got := numbered(d.page("/console/queues/entity?at=orders&order=newest&from=10")); len(got) != 10 || got[0] != "10" || got[9] != "1" {
		t.Errorf("the others are %v", got)
	}
	d.page("/console/queues/message?at=orders&n=7", "n=6&amp;part=active\" rel=\"prev\"", "n=8&amp;part=active\" rel=\"next\"")
	if page := d.page("/console/queues/message?at=orders&n=1"); strings.Contains(page, `rel="prev"`) {
		t.Errorf("there is one before the first:\n%s", page)
	}
}
