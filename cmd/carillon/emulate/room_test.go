package emulate_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/carillon-sched/carillon/cmd/carillon/emulate"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/queues"
)

// drawer is the pages of emulators, with clients of these.
type drawer struct {
	t       *testing.T
	url     string
	bus     *azservicebus.Client
	storage *azqueue.ServiceClient
	browser *http.Client
}

const entities = `{"UserConfig": {"Namespaces": [{"Name": "n",
	"Queues": [
		{"Name": "orders", "Properties": {"LockDuration": "PT1M", "MaxDeliveryCount": 3, "DefaultMessageTimeToLive": "P14D"}},
		{"Name": "unique", "Properties": {"RequiresDuplicateDetection": true, "DuplicateDetectionHistoryTimeWindow": "PT10M"}},
		{"Name": "sessions", "Properties": {"RequiresSession": true}}, {"Name": "deep/er"}],
	"Topics": [{"Name": "events", "Subscriptions": [{"Name": "all"}, {"Name": "dear", "Rules": [
		{"Name": "price", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "price > 10 AND sys.Label = 'order'"},
			"Action": {"SqlExpression": "SET tier = 'gold'; REMOVE gift"}}},
		{"Name": "north", "Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Properties": {"side": "north"}}}}]}]}]}]}}`

// open starts emulators, and serves their pages.
func open(t *testing.T) *drawer {
	t.Helper()
	named, err := servicebus.ReadConfig(strings.NewReader(entities))
	must(t, err)
	servers, err := emulate.Start(t.Context(), emulate.Config{
		Bus: &servicebus.Config{
			Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Entities: named, MaxMessageSize: 16 << 20,
		},
		Queue: &storagequeue.Config{Addr: "127.0.0.1:0"},
	})
	must(t, err)
	ports := servers.Ports()
	bus, err := azservicebus.NewClientFromConnectionString(ports.ServiceBus, nil)
	must(t, err)
	storage, err := azqueue.NewServiceClientFromConnectionString(ports.StorageQueue, nil)
	must(t, err)
	pages := httptest.NewServer(frame.New(frame.Config{Rooms: []frame.Room{queues.Alone(servers.Room("carillon emulate"))}, Unlocked: true}))
	t.Cleanup(func() {
		pages.Close()
		_ = bus.Close(context.WithoutCancel(t.Context()))
		must(t, servers.Close())
	})
	return &drawer{t: t, url: pages.URL, bus: bus, storage: storage, browser: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get returns a page.
func (d *drawer) get(path string) (status int, body string, header http.Header) {
	d.t.Helper()
	answer, err := d.browser.Get(d.url + path)
	must(d.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(d.t, err)
	return answer.StatusCode, string(text), answer.Header
}

// page returns one that must be there.
func (d *drawer) page(path string, wants ...string) string {
	d.t.Helper()
	status, body, _ := d.get(path)
	if status != http.StatusOK {
		d.t.Fatalf("%s: %d\n%s", path, status, body)
	}
	for _, want := range wants {
		if !strings.Contains(body, want) {
			d.t.Errorf("%s has no %q:\n%s", path, want, body)
		}
	}
	return body
}

// post sends a form. It returns where that leads, or the page.
func (d *drawer) post(path string, form url.Values) (status int, text string) {
	d.t.Helper()
	request, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.url+path, strings.NewReader(form.Encode()))
	must(d.t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", d.url)
	answer, err := d.browser.Do(request)
	must(d.t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(d.t, err)
	if answer.StatusCode == http.StatusSeeOther {
		return answer.StatusCode, answer.Header.Get("Location")
	}
	return answer.StatusCode, string(body)
}

func (d *drawer) done(path string, form url.Values) {
	d.t.Helper()
	if status, text := d.post(path, form); status != http.StatusSeeOther {
		d.t.Fatalf("%s: %d\n%s", path, status, text)
	}
}

func (d *drawer) send(to string, messages ...*azservicebus.Message) {
	d.t.Helper()
	sender, err := d.bus.NewSender(to, nil)
	must(d.t, err)
	defer func() { must(d.t, sender.Close(d.t.Context())) }()
	batch, err := sender.NewMessageBatch(d.t.Context(), nil)
	must(d.t, err)
	for _, m := range messages {
		if len(m.Body) > 1<<17 {
			must(d.t, sender.SendMessage(d.t.Context(), m, nil))
			continue
		}
		must(d.t, batch.AddMessage(m, nil))
	}
	if batch.NumMessages() > 0 {
		must(d.t, sender.SendMessageBatch(d.t.Context(), batch, nil))
	}
}

// receive takes messages with a lock.
func (d *drawer) receive(queue string, n int) (*azservicebus.Receiver, []*azservicebus.ReceivedMessage) {
	d.t.Helper()
	receiver, err := d.bus.NewReceiverForQueue(queue, nil)
	must(d.t, err)
	var all []*azservicebus.ReceivedMessage
	ctx, cancel := context.WithTimeout(d.t.Context(), 20*time.Second)
	defer cancel()
	for len(all) < n {
		some, err := receiver.ReceiveMessages(ctx, n-len(all), nil)
		must(d.t, err)
		all = append(all, some...)
	}
	return receiver, all
}

// bury makes messages dead letters.
func (d *drawer) bury(queue string, n int) {
	d.t.Helper()
	receiver, all := d.receive(queue, n)
	for _, m := range all {
		must(d.t, receiver.DeadLetterMessage(d.t.Context(), m, &azservicebus.DeadLetterOptions{
			Reason: new("Refused"), ErrorDescription: new("no <b>customer</b>"),
		}))
	}
	must(d.t, receiver.Close(d.t.Context()))
}

// numbered are the sequence numbers that a list of messages has.
func numbered(page string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`id="m-(\d+)"`).FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	return all
}

// pills are the counts of an entity's tabs.
func (d *drawer) pills(path string) string {
	d.t.Helper()
	var all []string
	for _, m := range regexp.MustCompile(`class="pill">([^<]*)<`).FindAllStringSubmatch(d.page("/console/queues/entity?at="+url.QueryEscape(path)), -1) {
		all = append(all, m[1])
	}
	return strings.Join(all, " ")
}

// TestEmptyRoom has the pages of emulators without a queue: they tell how to begin.
func TestEmptyRoom(t *testing.T) {
	servers, err := emulate.Start(t.Context(), emulate.Config{
		Bus:   &servicebus.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Keys: map[string]string{"own": "c2VjcmV0"}},
		Queue: &storagequeue.Config{Addr: "127.0.0.1:0"},
	})
	must(t, err)
	pages := httptest.NewServer(frame.New(frame.Config{Rooms: []frame.Room{queues.Alone(servers.Room("carillon emulate"))}, Unlocked: true}))
	defer pages.Close()
	defer func() { must(t, servers.Close()) }()
	d := &drawer{t: t, url: pages.URL, browser: &http.Client{}}
	body := d.page("/", "There are no queues or topics yet.", "carillon emulate", "SharedAccessKey=…;", "NewClientFromConnectionString", storagequeue.DefaultKey[:20])
	if strings.Contains(body, "c2VjcmV0") || strings.Contains(body, "token create") {
		t.Errorf("the page tells a key, or of tokens:\n%s", body)
	}
}

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
		"Filters know it as sys.Label.")
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<i>name") || strings.ContainsRune(page, '\u202E') {
		t.Error("a message is markup in its page, or turns the page's text")
	}
	if got := d.pills("orders"); got != "2 1 0 0" {
		t.Errorf("tabs are %q", got)
	}
	d.page("/console/queues/entity?at=orders&part=scheduled", "later")
	d.page("/console/queues/message?at=orders&n=3", "00000000  00 ff 01")
	d.page("/console/queues/message?at=orders&n=1&view=text", `{&#34;a&#34;:[1`)
	d.page("/console/queues/message?at=orders&n=3&view=json", "This is not JSON")
	status, body, header := d.get("/console/queues/body?at=orders&n=1")
	if status != http.StatusOK || body != `{"a":[1,{"b":"<script>alert(1)</script>"}]}` || header.Get("Content-Type") != "application/octet-stream" ||
		!strings.HasPrefix(header.Get("Content-Disposition"), "attachment") || header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the download is %d %q with %v", status, body, header)
	}
	d.page("/console/queues", "orders", "deep/er", `id="e-events/Subscriptions/dear"`, `<td class="number">2</td>`)
	d.page("/console/queues/entity?at=orders", "A message lives for 14 days at most.", "A receiver has a message for 1 minute", "After 3 deliveries")
	d.page("/console/queues/entity?at=deep/er", "No message waits here.")
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
	d.page("/console/queues/entity?at=orders", "with a receiver")
	for _, form := range []string{"delete", "purge"} {
		status, _ := d.post("/console/queues/"+form, url.Values{"at": {"orders"}, "part": {"active"}, "n": {"1"}})
		if form == "delete" && status != http.StatusConflict {
			t.Errorf("%s of a message that is held: %d", form, status)
		}
	}
	for _, m := range all { // they are still there
		must(t, receiver.CompleteMessage(t.Context(), m, nil))
	}
	if got := d.pills("orders"); got != "0 0 0 0" {
		t.Errorf("tabs are %q", got)
	}
}

// TestDeadLetters resubmits one as it is, one edited, and purges the rest.
func TestDeadLetters(t *testing.T) {
	d := open(t)
	for i := range 5 {
		d.send("orders", &azservicebus.Message{
			Body: fmt.Appendf(nil, "order %d\r\nwith lines", i), MessageID: new(strconv.Itoa(i)), ApplicationProperties: map[string]any{"n": int64(i)},
		})
	}
	d.bury("orders", 5)
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
	if status != http.StatusUnprocessableEntity || !strings.Contains(text, "kept &lt;b&gt;") || !strings.Contains(text, "is not a length of time") {
		t.Errorf("a form with mistakes: %d\n%s", status, text)
	}
	receiver, all := d.receive("orders", 3)
	for i, want := range []string{"order 1\r\nwith lines", "mended", "order 3\r\nwith lines"} {
		if string(all[i].Body) != want || all[i].ApplicationProperties["DeadLetterReason"] != nil {
			t.Errorf("message %d is %q with %v", i, all[i].Body, all[i].ApplicationProperties)
		}
		must(t, receiver.CompleteMessage(t.Context(), all[i], nil))
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
	d.bury("unique", 1)
	d.done("/console/queues/resubmit", url.Values{"at": {"unique"}, "part": {"dead"}, "n": {"1"}})
	if _, all := d.receive("unique", 1); string(all[0].Body) != "once" {
		t.Errorf("it is %q", all[0].Body)
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
	session, err := d.bus.AcceptSessionForQueue(t.Context(), "sessions", "s", nil)
	must(t, err)
	all, err := session.ReceiveMessages(t.Context(), 1, nil)
	must(t, err)
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
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+"/console/queues/send", strings.NewReader("at=orders&body=x"))
	must(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", "https://elsewhere.example")
	answer, err := d.browser.Do(request)
	must(t, err)
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
		"2 subscriptions would get it.", "price &gt; 10", "price is <code><bdi>12</bdi></code> (int)", "side is not there", "tier", "&#34;gold&#34;", "is removed",
		"The rule takes every message.",
	} {
		if status != http.StatusOK || !strings.Contains(regexp.MustCompile(`\s+`).ReplaceAllString(text, " "), want) {
			t.Errorf("no %q in %d\n%s", want, status, text)
		}
	}
	form["pvalue"] = []string{"9", "true"}
	if _, text = d.post("/console/queues/rules", form); !strings.Contains(text, "One subscription would get it.") {
		t.Errorf("a cheap one:\n%s", text)
	}
	d.send("events", &azservicebus.Message{Subject: new("order"), ApplicationProperties: map[string]any{"price": "dear"}})
	d.page("/console/queues/rules?at=events/Subscriptions/dear&from=events/Subscriptions/all&n=1", "It does not pass.", "unknown, so no")
	if got := d.pills("events/Subscriptions/all"); got != "1 0 0 0" {
		t.Errorf("asking has changed something: %q", got)
	}
}

// TestSubscription resubmits a dead letter of a subscription: into it alone, or to the topic.
func TestSubscription(t *testing.T) {
	d := open(t)
	d.send("events", &azservicebus.Message{Body: []byte("a"), ApplicationProperties: map[string]any{"side": "north"}}, &azservicebus.Message{Body: []byte("b"), ApplicationProperties: map[string]any{"side": "north"}})
	receiver, err := d.bus.NewReceiverForSubscription("events", "dear", nil)
	must(t, err)
	all, err := receiver.ReceiveMessages(t.Context(), 2, nil)
	must(t, err)
	for _, m := range all {
		must(t, receiver.DeadLetterMessage(t.Context(), m, nil))
	}
	const dear = "events/Subscriptions/dear"
	d.page("/console/queues/resubmit?at="+dear+"&part=dead", "Into this subscription alone", "To the topic events")
	d.done("/console/queues/resubmit", url.Values{"at": {dear}, "part": {"dead"}, "n": {"1"}})
	if got := d.pills(dear) + ", " + d.pills("events/Subscriptions/all"); got != "1 0 0 1, 2 0 0 0" {
		t.Errorf("into it alone: %q", got)
	}
	d.done("/console/queues/resubmit", url.Values{"at": {dear}, "part": {"dead"}, "n": {"2"}, "to": {"topic"}})
	if got := d.pills(dear) + ", " + d.pills("events/Subscriptions/all"); got != "2 0 0 0, 3 0 0 0" {
		t.Errorf("to the topic: %q", got)
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
	for search, want := range map[string][]string{"customer-77": {"78"}, "Message 119 OF": {"120"}, "55": {"55", "56"}, "none of them": nil} {
		if got := numbered(d.page("/console/queues/entity?at=orders&q=" + url.QueryEscape(search))); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", search, got, want)
		}
	}
}

// TestLargeBody shows the beginning of a large body, and downloads all.
func TestLargeBody(t *testing.T) {
	d := open(t)
	body := []byte(strings.Repeat("0123456789 ü ", 500_000))
	d.send("orders", &azservicebus.Message{Body: body})
	page := d.page("/console/queues/message?at=orders&n=1", "are shown. The download has all.")
	if len(page) > 300<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
	_, got, header := d.get("/console/queues/body?at=orders&n=1")
	if got != string(body) || header.Get("Content-Length") != strconv.Itoa(len(body)) {
		t.Errorf("the download has %d bytes", len(got))
	}
}

// TestLive has the list follow what happens, and say nothing when nothing does.
func TestLive(t *testing.T) {
	d := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/console/queues/entity/events?follow=1&at=orders", http.NoBody)
	must(t, err)
	answer, err := d.browser.Do(request)
	must(t, err)
	defer answer.Body.Close()
	var heard strings.Builder
	buffer := make([]byte, 64<<10)
	until := func(want string) {
		t.Helper()
		for !strings.Contains(heard.String(), want) {
			n, err := answer.Body.Read(buffer)
			heard.Write(buffer[:n])
			must(t, err)
		}
	}
	until("No message waits here.")
	if n := strings.Count(heard.String(), "event: messages"); n != 1 {
		t.Errorf("%d times the same", n)
	}
	d.send("orders", &azservicebus.Message{Body: []byte("it has come")})
	until("it has come")
	if n := strings.Count(heard.String(), "event: messages"); n != 2 {
		t.Errorf("messages came %d times, want 2", n)
	}
}

// TestStorage puts, peeks, takes and deletes messages of storage queues.
func TestStorage(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	for _, name := range []string{"letters", "letters-poison"} {
		_, err := d.storage.CreateQueue(ctx, name, nil)
		must(t, err)
	}
	letters, poison := d.storage.NewQueueClient("letters"), d.storage.NewQueueClient("letters-poison")
	_, err := letters.EnqueueMessage(ctx, `{"plain":"<b>"}`, nil)
	must(t, err)
	_, err = letters.EnqueueMessage(ctx, "eyJiYXNlNjQiOiAiPGI+In0=", &azqueue.EnqueueMessageOptions{VisibilityTimeout: new(int32(600))})
	must(t, err)
	form := url.Values{"account": {storagequeue.DefaultAccount}, "queue": {"letters"}}
	d.done("/console/queues/storage/put", with(form, "text", "from the page", "encode", "1", "ttl", "1h"))
	at := "/console/queues/storage?" + form.Encode()
	page := d.page(at, "{&#34;plain&#34;:&#34;&lt;b&gt;&#34;}", "base64&#34;: &#34;&lt;b&gt;", "hidden until", "from the page", "3 messages", "1 of them hidden")
	ids := regexp.MustCompile(`id="l-([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(ids) != 3 {
		t.Fatalf("%d messages", len(ids))
	}
	one := "/console/queues/storage/message?" + with(form, "id", ids[1][1]).Encode()
	d.page(one, "Decoded", "&#34;base64&#34;: &#34;&lt;b&gt;&#34;", "How often a receiver took it")
	d.page(one+"&view=text", "eyJiYXNlNjQiOiAiPGI&#43;In0=")
	peeked, err := letters.PeekMessages(ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: new(int32(10))})
	must(t, err)
	if len(peeked.Messages) != 2 || *peeked.Messages[0].DequeueCount != 0 {
		t.Errorf("looking has changed something: %v", peeked.Messages)
	}
	d.page(at+"&q=FROM+THE", "letters") // what is encoded is not searched
	d.done("/console/queues/storage/delete", with(form, "id", ids[1][1]))
	if status, _ := d.post("/console/queues/storage/delete", with(form, "id", ids[1][1])); status != http.StatusNotFound {
		t.Errorf("deleted twice: %d", status)
	}
	_, err = poison.EnqueueMessage(ctx, "failed", nil)
	must(t, err)
	bad := url.Values{"account": {storagequeue.DefaultAccount}, "queue": {"letters-poison"}}
	page = d.page("/console/queues/storage?"+bad.Encode(), "Put back into letters", "failed")
	id := regexp.MustCompile(`id="l-([^"]+)"`).FindStringSubmatch(page)[1]
	d.done("/console/queues/storage/move", with(bad, "id", id))
	d.page("/console/queues/storage?"+bad.Encode(), "No message waits here.")
	taken, err := letters.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: new(int32(10))})
	must(t, err)
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
