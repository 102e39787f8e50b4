package emulate_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/carillon-sched/carillon/cmd/carillon/emulate"
	"github.com/carillon-sched/carillon/integration/emulator/queues"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// drawer is the pages of emulators, with clients of these.
type drawer struct {
	t       *testing.T
	url     string
	bus     *azservicebus.Client
	storage *azqueue.ServiceClient
	browser *http.Client
	servers *emulate.Servers
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
	named := must.Get(servicebus.ReadConfig(strings.NewReader(entities)))(t)
	servers := must.Get(emulate.Start(t.Context(), emulate.Config{
		Bus: &servicebus.Config{
			Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Entities: named, MaxMessageSize: 101 << 20,
		},
		Queue: &storagequeue.Config{Addr: "127.0.0.1:0"},
	}))(t)
	ports := servers.Ports()
	bus := must.Get(azservicebus.NewClientFromConnectionString(ports.ServiceBus, nil))(t)
	storage := must.Get(azqueue.NewServiceClientFromConnectionString(ports.StorageQueue, nil))(t)
	pages := httptest.NewServer(frame.New(frame.Config{Sections: []frame.Section{queues.Alone(servers.ConsoleConfig("carillon emulate"))}, Unlocked: true}))
	t.Cleanup(func() {
		pages.Close()
		_ = bus.Close(context.WithoutCancel(t.Context()))
		must.Do(t, servers.Close())
	})
	return &drawer{t: t, servers: servers, url: pages.URL, bus: bus, storage: storage, browser: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// get returns a page.
func (d *drawer) get(path string) (status int, body string, header http.Header) {
	d.t.Helper()
	answer, err := d.browser.Get(d.url + path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	text := must.Get(io.ReadAll(answer.Body))(d.t)
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

// follow reads the live parts of a page. The function returned reads on until a line has a text.
func (d *drawer) follow(path string) (until func(want string)) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 20*time.Second)
	request := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, d.url+path, http.NoBody))(d.t)
	answer, err := d.browser.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		cancel()
		_ = answer.Body.Close()
	})
	lines := bufio.NewScanner(answer.Body)
	return func(want string) {
		d.t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		d.t.Fatalf("%s never tells %q: %v", path, want, lines.Err())
	}
}

// post sends a form. It returns where that leads, or the page.
func (d *drawer) post(path string, form url.Values) (status int, text string) {
	d.t.Helper()
	request := must.Get(http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.url+path, strings.NewReader(form.Encode())))(d.t)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", d.url)
	answer, err := d.browser.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	body := must.Get(io.ReadAll(answer.Body))(d.t)
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
	sender := must.Get(d.bus.NewSender(to, nil))(d.t)
	defer func() { must.Do(d.t, sender.Close(d.t.Context())) }()
	batch := must.Get(sender.NewMessageBatch(d.t.Context(), nil))(d.t)
	for _, m := range messages {
		if len(m.Body) > 1<<17 {
			must.Do(d.t, sender.SendMessage(d.t.Context(), m, nil))
			continue
		}
		must.Do(d.t, batch.AddMessage(m, nil))
	}
	if batch.NumMessages() > 0 {
		must.Do(d.t, sender.SendMessageBatch(d.t.Context(), batch, nil))
	}
}

// receive takes messages with a lock.
func (d *drawer) receive(queue string, n int) (*azservicebus.Receiver, []*azservicebus.ReceivedMessage) {
	d.t.Helper()
	receiver := must.Get(d.bus.NewReceiverForQueue(queue, nil))(d.t)
	var all []*azservicebus.ReceivedMessage
	ctx, cancel := context.WithTimeout(d.t.Context(), 20*time.Second)
	defer cancel()
	for len(all) < n {
		some := must.Get(receiver.ReceiveMessages(ctx, n-len(all), nil))(d.t)
		all = append(all, some...)
	}
	return receiver, all
}

// deadLetter makes messages dead letters.
func (d *drawer) deadLetter(queue string, n int) {
	d.t.Helper()
	receiver, all := d.receive(queue, n)
	for _, m := range all {
		must.Do(d.t, receiver.DeadLetterMessage(d.t.Context(), m, &azservicebus.DeadLetterOptions{
			Reason: new("Refused"), ErrorDescription: new("no <b>customer</b>"),
		}))
	}
	must.Do(d.t, receiver.Close(d.t.Context()))
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
	servers := must.Get(emulate.Start(t.Context(), emulate.Config{
		Bus:   &servicebus.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Keys: map[string]string{"own": "c2VjcmV0"}},
		Queue: &storagequeue.Config{Addr: "127.0.0.1:0"},
	}))(t)
	pages := httptest.NewServer(frame.New(frame.Config{Sections: []frame.Section{queues.Alone(servers.ConsoleConfig("carillon emulate"))}, Unlocked: true}))
	defer pages.Close()
	defer func() { must.Do(t, servers.Close()) }()
	d := &drawer{t: t, url: pages.URL, browser: &http.Client{}}
	body := d.page("/", "This namespace has no queues or topics yet.", "carillon emulate", "SharedAccessKey=…;", "NewClientFromConnectionString", storagequeue.DefaultKey[:20],
		"Connection strings", "Endpoint=sb://127.0.0.1:")
	if strings.Contains(body, "c2VjcmV0") || strings.Contains(body, "token create") {
		t.Errorf("the page tells a key, or of tokens:\n%s", body)
	}
}

// TestLastPage has as many messages as a page takes, and others behind them that are of another part: there is no page behind.
func TestLastPage(t *testing.T) {
	d := open(t)
	var all []*azservicebus.Message
	for range 50 {
		all = append(all, &azservicebus.Message{Body: []byte("x")})
	}
	d.send("orders", all...)
	d.done("/console/queues/send", url.Values{"at": {"orders"}, "body": {"later"}, "scheduled": {"2999-01-01T00:00"}})
	for _, order := range []string{"", "&order=newest"} {
		if page := d.page("/console/queues/entity?at=orders" + order); len(numbered(page)) != 50 || strings.Contains(page, "Next page") {
			t.Errorf("%d messages, or a page behind the last one:\n%s", len(numbered(page)), page)
		}
	}
	d.send("orders", all[0])
	page := d.page("/console/queues/entity?at=orders", "Next page")
	next := regexp.MustCompile(`href="([^"]+)" rel="next"`).FindStringSubmatch(page)
	if page = d.page(strings.ReplaceAll(next[1], "&amp;", "&")); len(numbered(page)) != 1 {
		t.Errorf("the second page:\n%s", page)
	}
}

// TestWrongInput has people type what cannot be: they are told what it is, and nothing is changed.
func TestWrongInput(t *testing.T) {
	d := open(t)
	must.Get(d.storage.CreateQueue(t.Context(), "letters", nil))(t)
	send := url.Values{"at": {"orders"}, "body": {"x"}}
	for _, wrong := range []struct {
		form url.Values
		want string
	}{
		{with(send, "bodyas", "hex", "body", "0g"), "The body is not hex: it contains &#34;g&#34;."},
		{with(send, "bodyas", "hex", "body", "012"), "the last byte lacks a digit"},
		{with(send, "bodyas", "base64", "body", "QUJ*"), "The body is not base64: invalid character at position 4."},
		{with(send, "ttl", "soon"), "&#34;soon&#34; is not a duration such as 90s, 10m or 2d."},
		{with(send, "ttl", "0s"), "is not a duration"},
		{with(send, "scheduled", "tomorrow"), "&#34;tomorrow&#34; is not a time."},
		{with(send, "session", "a", "partitionkey", "b"), "It must equal the session id"},
		{url.Values{"at": {"orders"}, "pname": {"a", "a"}, "ptype": {"int", "int"}, "pvalue": {"1", "2"}}, "Duplicate property &#34;a&#34;"},
		{with(send, "pname", "a", "ptype", "int", "pvalue", "one"), "&#34;one&#34; is not a number of the type int"},
		{with(send, "pname", "", "ptype", "int", "pvalue", "1"), "The property with the value &#34;1&#34; has no name."},
	} {
		d.refused("/console/queues/send", wrong.form, "Not sent.", wrong.want)
	}
	if got := d.pills("orders"); got != "0 0 0 0" {
		t.Errorf("tabs are %q", got)
	}
	d.refused("/console/queues/rules", url.Values{"at": {"events"}, "ttl": {"soon"}}, "Not tested.")
	letters := url.Values{"account": {"devstoreaccount1"}, "queue": {"letters"}, "text": {"x"}}
	d.refused("/console/queues/storage/put", with(letters, "hidden", "8d"), "At most 7 days.")
	d.refused("/console/queues/storage/put", with(letters, "hidden", "1h", "ttl", "1m"), "The message would expire before it becomes visible.")
	d.done("/console/queues/storage/put", with(letters, "hidden", "1m", "ttl", "7d"))
	d.done("/console/queues/send", with(send, "ttl", "2d"))
	d.page("/console/queues/send?at=orders&from=orders&part=active&n=1", `value="2d"`)
	for path, want := range map[string]string{
		"entity?at=nowhere": "No queue, topic or subscription &#34;nowhere&#34; exists.", "new?kind=subscription&at=orders": "No topic &#34;orders&#34; exists",
		"storage?account=devstoreaccount1&queue=nowhere": "No storage queue &#34;nowhere&#34; exists in the account &#34;devstoreaccount1&#34;.",
		"rules?at=orders": "orders is a queue and accepts every message", "purge?at=orders&part=dead": "Nothing to delete",
		"resubmit?at=orders&part=dead": "Nothing to resubmit",
	} {
		if _, page, _ := d.get("/console/queues/" + path); !strings.Contains(page, want) {
			t.Errorf("%s has no %q:\n%s", path, want, page)
		}
	}
}

// TestReader has somebody who may only look: there is nothing to change, and no way to.
func TestReader(t *testing.T) {
	d := open(t)
	d.send("orders", &azservicebus.Message{Body: []byte("x")})
	reader := &auth.Principal{Name: "me", Via: auth.ViaToken, Grants: []auth.Grant{{Role: auth.Reader}}}
	pages := httptest.NewServer(frame.New(frame.Config{
		Sections: []frame.Section{queues.Section(d.servers.ConsoleConfig("carillon emulate"))},
		Identify: func(*http.Request) (*auth.Principal, error) { return reader, nil },
	}))
	defer pages.Close()
	d.url = pages.URL
	for _, path := range []string{"/console/queues", "/console/queues/entity?at=orders", "/console/queues/message?at=orders&n=1"} {
		if page := d.page(path); strings.Contains(page, `method="post" action="/console/queues`) || strings.Contains(page, "/console/queues/purge") ||
			strings.Contains(page, "/console/queues/send") {
			t.Errorf("%s offers a change:\n%s", path, page)
		}
	}
	for _, path := range []string{"send", "delete", "bury", "purge", "resubmit", "storage/put", "storage/clear", "storage/delete", "storage/move"} {
		if status, _ := d.post("/console/queues/"+path, url.Values{"at": {"orders"}, "part": {"active"}, "n": {"1"}}); status != http.StatusForbidden {
			t.Errorf("%s: %d", path, status)
		}
	}
	if got := d.pills("orders"); got != "1 0 0 0" {
		t.Errorf("tabs are %q", got)
	}
	reader.Grants = []auth.Grant{{Role: auth.Admin, Collections: []string{"partners"}}}
	if status, _, _ := d.get("/console/queues"); status != http.StatusForbidden {
		t.Errorf("somebody of one collection sees queues: %d", status)
	}
}
