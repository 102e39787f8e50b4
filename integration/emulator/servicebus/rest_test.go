package servicebus_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// patience is how long something may take that is due at once.
const patience = 30 * time.Second

// startREST starts an emulator with queue q, session queue sessions and topic t with subscription s.
func startREST(t *testing.T, config servicebus.Config) *servicebus.Server {
	t.Helper()
	config.Entities = servicebus.Entities{
		Queues: []servicebus.Queue{{Name: "q"}, {Name: "a/b"}, {Name: "sessions", Options: servicebus.QueueOptions{RequiresSession: true}}},
		Topics: []servicebus.Topic{{Name: "t", Subscriptions: []servicebus.Subscription{{Name: "s"}}}},
	}
	return start(t, config)
}

// start starts an emulator that ends with the test.
func start(t *testing.T, config servicebus.Config) *servicebus.Server {
	t.Helper()
	config.Addr, config.HTTPAddr = "127.0.0.1:0", "127.0.0.1:0"
	server := must.Get(servicebus.Start(t.Context(), config))(t)
	t.Cleanup(func() { must.Do(t, server.Close()) })
	return server
}

// connect is a client of Azure's SDK that ends with the test.
func connect(t *testing.T, connection string) *azservicebus.Client {
	t.Helper()
	client := must.Get(azservicebus.NewClientFromConnectionString(connection, nil))(t)
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

// An answer is one without its body.
type answer struct {
	StatusCode int
	Header     http.Header
}

// speak sends the bytes of a request over a connection of its own and returns the answer and its body.
func speak(t *testing.T, server *servicebus.Server, request string) (answer, string) {
	t.Helper()
	socket := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", server.HTTPAddr()))(t)
	defer socket.Close()
	must.Do(t, socket.SetDeadline(time.Now().Add(patience)))
	must.Get(io.WriteString(socket, request))(t)
	method, _, _ := strings.Cut(request, " ")
	response, err := http.ReadResponse(bufio.NewReader(socket), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body := must.Get(io.ReadAll(response.Body))(t)
	return answer{response.StatusCode, response.Header}, string(body)
}

// ask is a request without a body, or with one and headers in front of it.
func ask(line, headers, body string) string {
	return fmt.Sprintf("%s HTTP/1.1\r\nHost: my.servicebus.windows.net\r\n%sContent-Length: %d\r\n\r\n%s", line, headers, len(body), body)
}

// wantStatus speaks and fails if the answer has another status.
func wantStatus(t *testing.T, server *servicebus.Server, request string, want int) (answer, string) {
	t.Helper()
	response, body := speak(t, server, request)
	if response.StatusCode != want {
		line, _, _ := strings.Cut(request, "\r")
		t.Fatalf("%s: %d, want %d: %s", line, response.StatusCode, want, body)
	}
	return response, body
}

// brokerProperties decodes the header of an answer, without what differs from run to run.
func brokerProperties(t *testing.T, response answer) map[string]any {
	t.Helper()
	header := response.Header.Get("BrokerProperties")
	properties := map[string]any{}
	if err := json.Unmarshal([]byte(header), &properties); err != nil {
		t.Fatalf("%s: %v", header, err)
	}
	for _, name := range []string{"EnqueuedTimeUtc", "LockedUntilUtc", "LockToken"} {
		delete(properties, name)
	}
	return properties
}

// lockOf is the path of the lock that an answer has.
func lockOf(t *testing.T, response answer) string {
	t.Helper()
	path, ok := strings.CutPrefix(response.Header.Get("Location"), "http://my.servicebus.windows.net")
	if !ok {
		t.Fatal(response.Header.Get("Location"))
	}
	return path
}

// TestRESTLife is the life of a message as the client azure-sb for Node.js has it, in its bytes.
func TestRESTLife(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	wantStatus(t, server, "POST /q/Messages?api-version=2014-01 HTTP/1.1\r\n"+
		"authorization: SharedAccessSignature sr=http%3a%2f%2fhost%2fq&sig=c2ln&se=4102444800&skn=RootManageSharedAccessKey\r\n"+
		"user-agent: Azure-SDK-For-Node/azure-sb/0.11.2\r\naccept: application/atom+xml,application/xml\r\naccept-charset: UTF-8\r\n"+
		"Orders: 3\r\norderId: \"A-5\"\r\nwhen: \"Thu, 01 Jan 1970 00:00:00 GMT\"\r\nrate: 0.5\r\nrush: true\r\nquoted: \"say \"x\"\"\r\n"+
		"BrokerProperties: {\"MessageId\":\"m1\",\"Label\":\"\u00fcber\",\"CorrelationId\":\"c\",\"ReplyTo\":\"r\",\"To\":\"to\",\"TimeToLive\":90}\r\n"+
		"content-type: text/plain\r\nhost: my.servicebus.windows.net\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello", http.StatusCreated)

	response, body := wantStatus(t, server, ask("POST /q/Messages/Head?timeout=30&api-version=2014-01", "", ""), http.StatusCreated)
	if body != "hello" || response.Header.Get("Content-Type") != "text/plain" {
		t.Errorf("%q, %s", body, response.Header.Get("Content-Type"))
	}
	want := map[string]any{
		"DeliveryCount": 1.0, "EnqueuedSequenceNumber": 0.0, "SequenceNumber": 1.0, "State": "Active", "TimeToLive": 90.0,
		"MessageId": "m1", "Label": "\u00fcber", "CorrelationId": "c", "ReplyTo": "r", "To": "to",
	}
	if diff := cmp.Diff(want, brokerProperties(t, response)); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{
		"Orders": "3", "orderId": `"A-5"`, "when": `"Thu, 01 Jan 1970 00:00:00 GMT"`, "rate": "0.5", "rush": "true", "quoted": `"say "x""`,
		"Content-Length": "", "Accept-Charset": "",
	} {
		if got := response.Header.Get(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	lock := lockOf(t, response)
	wantStatus(t, server, ask("POST "+lock, "", ""), http.StatusOK)
	wantStatus(t, server, ask("PUT "+lock, "", ""), http.StatusOK)
	wantStatus(t, server, ask("PUT "+lock, "", ""), http.StatusNotFound)
	response, _ = wantStatus(t, server, ask("POST /q/messages/head", "", ""), http.StatusCreated)
	if n := brokerProperties(t, response)["DeliveryCount"]; n != 2.0 {
		t.Errorf("delivery %v", n)
	}
	lock = strings.Replace(lockOf(t, response), "/messages/1/", "/messages/m1/", 1)
	wantStatus(t, server, ask("DELETE "+strings.Replace(lock, "/m1/", "/m2/", 1), "", ""), http.StatusNotFound)
	wantStatus(t, server, ask("DELETE "+lock, "", ""), http.StatusOK)
	_, body = wantStatus(t, server, ask("DELETE "+lock, "", ""), http.StatusNotFound)
	if !regexp.MustCompile(`^<Error><Code>404</Code><Detail>The lock supplied is invalid\..* TrackingId:.*</Detail></Error>$`).MatchString(body) {
		t.Error(body)
	}
	if response, body := wantStatus(t, server, ask("DELETE /q/messages/head?timeout=0", "", ""), http.StatusNoContent); body != "" ||
		response.Header.Get("BrokerProperties") != "" {
		t.Errorf("%q", body)
	}
}

// TestRESTHeaderNames shows that names of properties keep their case on the way to a client of AMQP.
func TestRESTHeaderNames(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	wantStatus(t, server, ask("POST /q/messages", "orderId: 5\r\nLARGE: 5000000000\r\nname: \"J\xc3\xb6rg\"\r\nlatin: \"J\xf6rg\"\r\nbare: some text\r\n"+
		"empty: \"\"\r\nUser-Agent: none\r\nx-ms-retrypolicy: NoRetry\r\n", "body\norderID: 6"), http.StatusCreated)
	m := receiveOne(t, connect(t, server.ConnectionString()), "q")
	want := map[string]any{
		"orderId": int32(5), "LARGE": int64(5000000000), "name": "Jörg", "latin": "Jörg", "bare": "some text", "empty": "",
	}
	if diff := cmp.Diff(want, m.ApplicationProperties); diff != "" {
		t.Error(diff)
	}
	if m.MessageID == "" || m.ContentType != nil || m.Subject != nil {
		t.Errorf("%q, %v, %v", m.MessageID, m.ContentType, m.Subject)
	}
}

func receiveOne(t *testing.T, client *azservicebus.Client, queue string) *azservicebus.ReceivedMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	receiver := must.Get(client.NewReceiverForQueue(queue, nil))(t)
	defer func() { _ = receiver.Close(ctx) }()
	messages := must.Get(receiver.ReceiveMessages(ctx, 1, nil))(t)
	must.Do(t, receiver.CompleteMessage(ctx, messages[0], nil))
	return messages[0]
}

// TestRESTToAMQP shows each property of Service Bus on its way from REST to a client of AMQP.
func TestRESTToAMQP(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	wantStatus(t, server, ask("POST /a/b/messages", "Content-Type: application/json\r\nBrokerProperties: "+
		`{"MessageId":"m","CorrelationId":"c","Label":"l","To":"to","ReplyTo":"r","ReplyToSessionId":"rs","SessionId":"s","PartitionKey":"s",`+
		`"TimeToLive":60.5,"ForcePersistence":true,"Unknown":{"x":1},"ScheduledEnqueueTimeUtc":" Sun, 06 Nov 1994 08:49:37 GMT"}`+"\r\n",
		`{"a":1}`), http.StatusCreated)
	m := receiveOne(t, connect(t, server.ConnectionString()), "a/b")
	got := fmt.Sprintf("%s %s %s %s %s %s %s %s %s %s %v %s", m.MessageID, *m.CorrelationID, *m.Subject, *m.To, *m.ReplyTo, *m.ReplyToSessionID,
		*m.SessionID, *m.PartitionKey, *m.ContentType, m.Body, *m.TimeToLive, m.ScheduledEnqueueTime.UTC().Format(time.RFC3339))
	if want := `m c l to r rs s s application/json {"a":1} 1m0.5s 1994-11-06T08:49:37Z`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAMQPToREST shows what a client of AMQP has sent, over REST: from a subscription, with values of each type.
func TestAMQPToREST(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	sender := must.Get(connect(t, server.ConnectionString()).NewSender("t", nil))(t)
	must.Do(t, sender.SendMessage(t.Context(), &azservicebus.Message{
		Body: []byte{0, 1, 255}, MessageID: new("m"), Subject: new("l"), CorrelationID: new("c"), To: new("to"), ReplyTo: new("r"),
		ReplyToSessionID: new("rs"), SessionID: new("s"), PartitionKey: new("s"), TimeToLive: new(time.Minute), ContentType: new("a/b"),
		ApplicationProperties: map[string]any{
			"text": "x", "orderId": int64(5), "rate": 0.25, "rush": false, "when": time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC),
			"Content-Length": "7", "with space": "left out", "lines": "a\r\nX-Injected: 1", "none": nil, "binary": []byte("b"),
			"control": "a\x00b\x7f\tc",
		},
	}, nil))
	response, body := wantStatus(t, server, ask("DELETE /t/subscriptions/s/messages/head?timeout=30", "", ""), http.StatusOK)
	if body != "\x00\x01\xff" || response.Header.Get("Location") != "" {
		t.Errorf("%q, %s", body, response.Header.Get("Location"))
	}
	properties := brokerProperties(t, response)
	want := map[string]any{
		"DeliveryCount": 1.0, "EnqueuedSequenceNumber": 1.0, "SequenceNumber": 1.0, "State": "Active", "TimeToLive": 60.0, "MessageId": "m",
		"Label": "l", "CorrelationId": "c", "To": "to", "ReplyTo": "r", "ReplyToSessionId": "rs", "SessionId": "s", "PartitionKey": "s",
	}
	if diff := cmp.Diff(want, properties); diff != "" {
		t.Error(diff)
	}
	headers := maps.Clone(response.Header)
	for _, name := range []string{"Date", "Brokerproperties"} {
		delete(headers, name)
	}
	wantHeaders := http.Header{
		"Content-Type": {"a/b"}, "Text": {`"x"`}, "Orderid": {"5"}, "Rate": {"0.25"}, "Rush": {"false"},
		"When": {`"Thu, 02 Jan 2020 03:04:05 GMT"`}, "Lines": {`"a  X-Injected: 1"`}, "Binary": {`"Yg=="`}, "Control": {"\"a b \tc\""},
	}
	if diff := cmp.Diff(wantHeaders, headers); diff != "" {
		t.Error(diff)
	}
}

// TestRESTBatch sends several messages at once, of which one is bad in the second try.
func TestRESTBatch(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	const kind = "Content-Type: application/vnd.microsoft.servicebus.json\r\n"
	wantStatus(t, server, ask("POST /q/messages?timeout=60", kind, `[
		{"Body": "This is the first message", "BrokerProperties": {"Label": "M1", "TimeToLiveTimeSpan": "0.00:00:40"}},
		{"Body": "This is the second message", "UserProperties": {"Priority": "Medium"}},
		{"Body": "This is the third message", "UserProperties": {"Priority": "High", "customerId": 12345, "rate": 1.5, "rush": true}}
	]`), http.StatusCreated)
	for _, want := range []struct{ body, name, value string }{
		{"This is the first message", "Priority", ""},
		{"This is the second message", "Priority", `"Medium"`},
		{"This is the third message", "Customerid", "12345"},
	} {
		response, body := wantStatus(t, server, ask("DELETE /q/messages/head", "", ""), http.StatusOK)
		if body != want.body || response.Header.Get(want.name) != want.value {
			t.Errorf("%q, %v", body, response.Header)
		}
		if ttl := brokerProperties(t, response)["TimeToLive"]; (ttl == 40.0) != (body == "This is the first message") {
			t.Errorf("%s: lives %v s", body, ttl)
		}
	}
	for body, want := range map[string]string{
		`[{"Body": "a"}, {"Body": "b", "BrokerProperties": {"TimeToLiveTimeSpan": "40"}}]`: `[1].BrokerProperties: TimeToLiveTimeSpan: &#34;40&#34; is not`,
		`[{"Body": "a", "UserProperties": {"x": [1]}}]`:                                    `[0].UserProperties.x: a property is text`,
		`{"Body": "a"}`: `The body is no batch`,
		`[]`:            `The batch has no message.`,
	} {
		if _, got := wantStatus(t, server, ask("POST /q/messages", kind, body), http.StatusBadRequest); !strings.Contains(got, want) {
			t.Errorf("%s: %s", body, got)
		}
	}
	wantStatus(t, server, ask("DELETE /q/messages/head?timeout=0", "", ""), http.StatusNoContent)
}

// TestRESTRefusals shows the answers of the documents to what cannot be.
func TestRESTRefusals(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	const token = "00000000-0000-0000-0000-000000000001"
	const several = "Content-Type: application/vnd.microsoft.servicebus.json\r\n"
	for _, test := range []struct {
		line, headers, body string
		status              int
		want                string
	}{
		{"POST /none/messages", "", "x", http.StatusGone, "The messaging entity &#39;none&#39; could not be found."},
		{"DELETE /none/messages/head?timeout=1", "", "", http.StatusGone, "could not be found"},
		{"POST /t/subscriptions/none/messages/head", "", "", http.StatusGone, "could not be found"},
		{"DELETE /none/messages/1/" + token, "", "", http.StatusGone, "could not be found"},
		{"PUT /q/messages/1/" + token, "", "", http.StatusNotFound, "The lock supplied is invalid."},
		{"POST /t/messages/head", "", "", http.StatusBadRequest, "is a topic"},
		{"POST /t/subscriptions/s/messages", "", "x", http.StatusBadRequest, "cannot be sent to"},
		{"POST /sessions/messages/head", "", "", http.StatusBadRequest, "non-sessionful message receiver"},
		{"POST /sessions/messages", "", "x", http.StatusBadRequest, "SessionId was not set"},
		{"POST /q/messages/head?timeout=soon", "", "", http.StatusBadRequest, "timeout: &#34;soon&#34; is no number of seconds."},
		{"POST /q/messages/head?timeout=-1", "", "", http.StatusBadRequest, "is no number of seconds."},
		{"POST /q/messages", "BrokerProperties: x\r\n", "x", http.StatusBadRequest, "BrokerProperties: invalid character"},
		{"POST /q/messages", "BrokerProperties: {\"TimeToLive\": 0}\r\n", "x", http.StatusBadRequest, "BrokerProperties: TimeToLive: &#34;0&#34;"},
		{"POST /q/messages", "BrokerProperties: {\"ScheduledEnqueueTimeUtc\": \"soon\"}\r\n", "x", http.StatusBadRequest, "ScheduledEnqueueTimeUtc: "},
		{"POST /q/messages", "BrokerProperties: {\"SessionId\": \"a\", \"PartitionKey\": \"b\"}\r\n", "x", http.StatusBadRequest, "differ"},
		{"POST /q/messages", "BrokerProperties: [1]\r\n", "x", http.StatusBadRequest, "BrokerProperties: the whole cannot be array "},
		{"POST /q/messages", "BrokerProperties: {\"Label\": 1}\r\n", "x", http.StatusBadRequest, "BrokerProperties: Label cannot be number "},
		{"POST /q/messages", several, `{"Body": "x"}`, http.StatusBadRequest, "in JSON: the whole cannot be object "},
		{"POST /q/messages", several, `[{"Body": "x"}][{"Body": "y"}]`, http.StatusBadRequest, "more than one batch"},
		{"POST /q/messages", several, `[{"Body": "x"}]}`, http.StatusBadRequest, "more than one batch"},
		{"POST /q/messages", several, `[{"Body": {"a": 1}}]`, http.StatusBadRequest, "in JSON: Body cannot be object "},
		{"POST /q/messages", "", strings.Repeat("x", 1<<20), http.StatusForbidden, "exceeds the maximum size of 1048576 bytes"},
		{"POST /q/messages", "", strings.Repeat("x", 1<<20+1), http.StatusForbidden, "exceeds the maximum size of 1048576 bytes"},
	} {
		_, body := wantStatus(t, server, ask(test.line, test.headers, test.body), test.status)
		if !strings.Contains(body, test.want) || !strings.Contains(body, fmt.Sprintf("<Code>%d</Code>", test.status)) {
			t.Errorf("%s: %s", test.line, body)
		}
	}
	wantStatus(t, server, ask("DELETE /q/messages/head?timeout=0", "", ""), http.StatusNoContent)
}

// TestRESTKeys shows that a key is asked for where keys are strict, and that lock and message are not told without.
func TestRESTKeys(t *testing.T) {
	server := startREST(t, servicebus.Config{Auth: servicebus.Strict})
	token := servicebus.SignToken(servicebus.DefaultKeyName, servicebus.DefaultKey, "https://my.servicebus.windows.net/q", time.Now().Add(time.Hour))
	for _, test := range []struct {
		name, line, authorization string
		want                      int
	}{
		{"none", "POST /q/messages", "", http.StatusUnauthorized},
		{"none to receive", "POST /q/messages/head?timeout=0", "", http.StatusUnauthorized},
		{"of another entity", "POST /a/b/messages", token, http.StatusUnauthorized},
		{"of a wrong key", "POST /q/messages", strings.Replace(token, "sig=", "sig=A", 1), http.StatusUnauthorized},
		{"good", "POST /q/messages", token, http.StatusCreated},
	} {
		header := ""
		if test.authorization != "" {
			header = "Authorization: " + test.authorization + "\r\n"
		}
		response, body := speak(t, server, ask(test.line, header, "x"))
		if response.StatusCode != test.want || test.want == http.StatusUnauthorized && !strings.HasPrefix(body, "<Error><Code>401</Code><Detail>") {
			t.Errorf("%s: %d: %s", test.name, response.StatusCode, body)
		}
	}
}

// TestRESTRights shows which right of a key each operation wants, and that refusals are explained.
func TestRESTRights(t *testing.T) {
	var log logtest.Log
	server := startREST(t, servicebus.Config{
		Auth: servicebus.Strict, Keys: map[string]string{"sender": "a", "listener": "b", "root": "c"},
		Rights:  map[string][]string{"sender": {"Send"}, "listener": {"Listen"}},
		Explain: true, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	with := func(line, name, key string) string {
		return ask(line, "Authorization: "+servicebus.SignToken(name, key, "https://my.servicebus.windows.net/", time.Now().Add(time.Hour))+"\r\n", "")
	}
	const lock = "/q/messages/1/00000000-0000-0000-0000-000000000001"
	for _, test := range []struct {
		line             string
		sender, listener int
	}{
		{"POST /q/messages", http.StatusCreated, http.StatusUnauthorized},
		{"DELETE /q/messages/head?timeout=0", http.StatusUnauthorized, http.StatusOK},
		{"POST /q/messages/head?timeout=0", http.StatusUnauthorized, http.StatusNoContent},
		{"DELETE " + lock, http.StatusUnauthorized, http.StatusNotFound},
		{"PUT " + lock, http.StatusUnauthorized, http.StatusNotFound},
		{"POST " + lock, http.StatusUnauthorized, http.StatusNotFound},
	} {
		wantStatus(t, server, with(test.line, "sender", "a"), test.sender)
		wantStatus(t, server, with(test.line, "listener", "b"), test.listener)
	}
	const want = `'Send' claim(s) are required to perform this operation, on the resource 'sb://my.servicebus.windows.net/q'`
	if !strings.Contains(log.String(), want) || !strings.Contains(log.String(), `what="a request over REST" entity=q`) {
		t.Errorf("no %s in %s", want, log.String())
	}
	for _, test := range []struct {
		request string
		status  int
		words   []string
	}{
		{with("DELETE "+lock, "listener", "b"), http.StatusNotFound, []string{`entity=q`, `hint="the message was settled before`}},
		{with("POST /none/messages", "sender", "a"), http.StatusGone, []string{`entity=none`, `hint="no entity has this name`}},
		{ask("POST /q/messages", "", ""), http.StatusUnauthorized, []string{`the request has no token`, `hint="the key or token`}},
		{
			with("GET /q?api-version=2021-05", "listener", "b"), http.StatusUnauthorized,
			[]string{`what="a request of administration" entity=q`, `Manage claim is required`, `hint="the key or token`},
		},
		{
			with("DELETE /none?api-version=2021-05", "root", "c"), http.StatusNotFound,
			[]string{`what="a request of administration" entity=none`, `hint="no entity has this name`},
		},
	} {
		before := len(log.String())
		wantStatus(t, server, test.request, test.status)
		for _, word := range test.words {
			if got := log.String()[before:]; !strings.Contains(got, word) {
				t.Errorf("%s lacks %s", got, word)
			}
		}
	}
	before := log.String()
	wantStatus(t, server, with("GET /none?api-version=2021-05", "root", "c"), http.StatusNotFound)
	if got := log.String(); got != before {
		t.Errorf("a question is called a mistake: %s", got[len(before):])
	}
}

// TestRESTWaits shows that a receiver gets what is sent while it waits, and that one that has gone takes nothing.
func TestRESTWaits(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	gone := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", server.HTTPAddr()))(t)
	must.Get(io.WriteString(gone, ask("DELETE /q/messages/head", "", "")))(t)
	wantReceivers(t, server, 1)
	_ = gone.Close()
	wantReceivers(t, server, 0)
	got := make(chan string, 1)
	go func() {
		_, body := speak(t, server, ask("DELETE /q/messages/head", "", ""))
		got <- body
	}()
	wantReceivers(t, server, 1)
	wantStatus(t, server, ask("POST /q/messages", "", "late"), http.StatusCreated)
	if body := <-got; body != "late" {
		t.Errorf("%q", body)
	}
}

// TestRESTWaitsWithBody shows that a receiver whose request has a body, which means nothing, takes nothing either when it has gone,
// and that neither it nor a fault that waits holds up the end.
func TestRESTWaitsWithBody(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	say := func(request string) net.Conn {
		socket := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", server.HTTPAddr()))(t)
		t.Cleanup(func() { _ = socket.Close() })
		must.Get(io.WriteString(socket, request))(t)
		return socket
	}
	const waits = "POST /q/messages/head?timeout=3600"
	gone := say(ask(waits, "", "{}"))
	wantReceivers(t, server, 1)
	_ = gone.Close()
	wantReceivers(t, server, 0)
	say(ask(waits, "Content-Type: application/json\r\n", "{}"))
	say("DELETE /q/messages/head?timeout=3600 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
	wantReceivers(t, server, 2)
	server.Inject(servicebus.Fault{Entity: "q", Operation: servicebus.OpSend, Delay: time.Hour})
	say(ask("POST /q/messages", "", "x"))
	must.Await(t, "the fault to begin", func() bool { return len(server.Broker().Faults().All()) == 0 })
	began := time.Now()
	if err := server.Close(); err != nil || time.Since(began) > patience {
		t.Error(err, time.Since(began))
	}
}

// wantReceivers waits until so many receive from q.
func wantReceivers(t *testing.T, server *servicebus.Server, n int) {
	t.Helper()
	must.Await(t, fmt.Sprint(n, " receivers"), func() bool {
		info, err := server.Broker().Entity("q")
		return err != nil || info.Usage.Receivers == n
	})
}

// TestRESTDeadLetters shows the dead letters of a subscription, and faults.
func TestRESTDeadLetters(t *testing.T) {
	server := startREST(t, servicebus.Config{})
	wantStatus(t, server, ask("POST /t/messages", "", "x"), http.StatusCreated)
	for range 10 {
		response, _ := wantStatus(t, server, ask("POST /t/Subscriptions/s/messages/head", "", ""), http.StatusCreated)
		wantStatus(t, server, ask("PUT "+lockOf(t, response), "", ""), http.StatusOK)
	}
	response, body := wantStatus(t, server, ask("POST /t/Subscriptions/s/$DeadLetterQueue/messages/head", "", ""), http.StatusCreated)
	if body != "x" || response.Header.Get("DeadLetterReason") != `"MaxDeliveryCountExceeded"` {
		t.Errorf("%q, %v", body, response.Header)
	}
	wantStatus(t, server, ask("DELETE "+lockOf(t, response), "", ""), http.StatusOK)
	server.Inject(servicebus.Fault{Entity: "q", Operation: servicebus.OpSend, Condition: "com.microsoft:server-busy", Description: "Busy."})
	if _, body := wantStatus(t, server, ask("POST /q/messages", "", "x"), http.StatusServiceUnavailable); !strings.Contains(body, "Busy.") {
		t.Error(body)
	}
}
