package hostile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/nats-io/nats.go"
)

// door is one way in: what is sent there, and how. send returns the class of the answer, and, when the server is to
// blame, what it says. Several goroutines call it.
type door struct {
	name  string
	seeds [][]byte
	send  func(mutated []byte) (class, blame string)
}

// answerTime is how long an answer may take before it counts as none.
const answerTime = 30 * time.Second

// doors are all that a process has.
func doors(t *testing.T, p process) []door {
	t.Helper()
	nc := must.Get(nats.Connect(p.NATS))(t)
	t.Cleanup(nc.Close)
	api := strings.TrimPrefix(p.HTTP, "http://")
	queue := strings.TrimPrefix(p.Queue, "http://")
	docs := documents(t)
	return []door{
		{"REST, documents", docs, put(p.HTTP + "/jobCollections/default/jobs/mutant")},
		{"REST, previews", docs, post(p.HTTP + "/preview")},
		{"REST, HTTP", requests(api), raw(api)},
		{"NATS, specs", docs, spec(nc)},
		{"NATS, previews", docs, request(nc)},
		{"storage queue, HTTP", queueRequests(queue), raw(queue)},
		{"Service Bus, AMQP", frames(t, p), conversation(p.AMQP)},
	}
}

// documents are the examples, which use all that job documents have.
func documents(t *testing.T) (all [][]byte) {
	t.Helper()
	for _, pattern := range []string{"jobs/*", "actions/*.yaml", "schedules/*", "authentication/*.yaml"} {
		files := must.Get(filepath.Glob(filepath.Join("..", "..", "..", "examples", pattern)))(t)
		for _, file := range files {
			data := must.Get(os.ReadFile(file))(t)
			all = append(all, data)
		}
	}
	if len(all) < 10 {
		t.Fatalf("%d examples", len(all))
	}
	return all
}

// status is the class of an answer.
func status(res *http.Response) (class, blame string) {
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	switch {
	case res.StatusCode >= http.StatusMultipleChoices && res.StatusCode < http.StatusBadRequest && res.StatusCode != http.StatusNotModified:
		blame = "it sends a request that names one thing on to another: " + res.Header.Get("Location") + " "
	case res.StatusCode < http.StatusInternalServerError:
	case res.StatusCode == http.StatusNotImplemented, res.StatusCode == http.StatusHTTPVersionNotSupported: // the request's fault
	default:
		blame = string(body) + " "
	}
	return strconv.Itoa(res.StatusCode), blame
}

func put(url string) func([]byte) (string, string) {
	return func(b []byte) (string, string) { return call(http.MethodPut, url, b) }
}

func post(url string) func([]byte) (string, string) {
	return func(b []byte) (string, string) { return call(http.MethodPost, url, b) }
}

func call(method, url string, body []byte) (class, blame string) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return "no request", err.Error()
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "no answer", "no answer"
	}
	return status(res)
}

// say writes bytes to a socket, from which an answer is to be read in time. end says that no more come.
func say(addr string, b []byte) (conn net.Conn, end func(), err error) {
	conn, err = net.Dial("tcp", addr)
	if err != nil {
		return nil, nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(answerTime))
	_, _ = conn.Write(b) // the server may have seen enough
	return conn, func() {
		if half, ok := conn.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
	}, nil
}

// raw writes bytes to a socket, and reads the first answer. Where there is none soon, the server waits for more, and hears
// that nothing comes; what it answers then, nobody waits for.
func raw(addr string) func([]byte) (string, string) {
	return func(b []byte) (string, string) {
		conn, end, err := say(addr, b)
		if err != nil {
			return "refused", "refused"
		}
		defer conn.Close()
		var gone atomic.Bool
		giveUp := time.AfterFunc(enough, func() {
			gone.Store(true)
			end()
		})
		defer giveUp.Stop()
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if isTimeout(err) {
			return "no answer", "no answer"
		}
		if err != nil {
			return "closed", ""
		}
		class, blame := status(res)
		if gone.Load() {
			return "waited for more", ""
		}
		return class, blame
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// enough is how long an answer is waited for that may never come.
const enough = 50 * time.Millisecond

// spec publishes a job's spec, and waits until it is stored.
func spec(nc *nats.Conn) func([]byte) (string, string) {
	return func(b []byte) (string, string) {
		m, err := nc.Request("carillon.spec.put.default.mutant", b, answerTime)
		switch {
		case errors.Is(err, nats.ErrMaxPayload):
			return "too large", ""
		case err != nil:
			return "not stored", "not stored"
		case bytes.Contains(m.Data, []byte(`"error"`)):
			return "refused", "refused"
		}
		return "stored", ""
	}
}

// request asks the micro service for a preview.
func request(nc *nats.Conn) func([]byte) (string, string) {
	return func(b []byte) (string, string) {
		m, err := nc.Request("carillon.api.preview", b, answerTime)
		if err != nil {
			return "no answer", "no answer"
		}
		code, blame := m.Header.Get("Carillon-Status"), ""
		if code >= "5" {
			blame = string(m.Data)
		}
		return code, blame
	}
}

// requests are whole requests to the REST API.
func requests(host string) [][]byte {
	const job = `{"action": {"type": "Http", "request": {"method": "GET", "uri": "http://127.0.0.1:1/"}}, "startTime": "2099-01-01T00:00:00Z"}`
	return texts(host,
		"GET /jobCollections/default/jobs?$filter=state%20eq%20enabled&$top=10 HTTP/1.1", "",
		"GET /jobCollections/default/jobs/mutant/history?$filter=status%20eq%20Failed&$skiptoken=12 HTTP/1.1", "",
		"GET /history?since=2026-01-01T00:00:00Z&$top=5 HTTP/1.1", "",
		"PUT /jobCollections/default/jobs/mutant?strict=true&dryRun=true HTTP/1.1", job,
		"PATCH /jobCollections/default/jobs/mutant HTTP/1.1", `{"state": "disabled"}`,
		"POST /jobCollections/default/jobs/mutant/resubmit HTTP/1.1", `{"occurrence": "2026-03-08T09:00:00Z"}`,
		"PUT /subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler/jobCollections/mutants HTTP/1.1", `{"properties": {"sku": {"name": "Free"}}}`,
		"POST /api/v2/schedules/preview/ HTTP/1.1", `{"rrule": "DTSTART:20310101T000000Z RRULE:FREQ=DAILY;INTERVAL=1"}`,
		"GET /api/v2/schedules/zoneinfo/ HTTP/1.1", "",
		"GET /readyz HTTP/1.1", "",
		"PUT /jobCollections/mutants HTTP/1.1\r\nIf-None-Match: *", `{"properties": {"quota": {"maxJobCount": 5}}}`,
		"POST /jobCollections/mutants/jobs HTTP/1.1", job,
		"DELETE /jobCollections/default/jobs/mutant?api-version=2016-03-01 HTTP/1.1\r\nIf-Match: \"x\"", "",
		"POST /jobCollections/default/jobs/mutant/run HTTP/1.0", "",
		"GET /jobCollections/default/jobs/mutant/why?at=2026-03-08T09:00:00Z HTTP/1.1", "",
		"GET /jobs?labelSelector=team%3Da&prefix=m&nextAfter=now HTTP/1.1", "",
		"GET /runs.ics?days=30&max=10 HTTP/1.1", "",
		"GET /forecast?hours=24&proposals=true HTTP/1.1", "",
		"GET /audit?kind=job&op=put&since=2026-01-01T00:00:00Z&$top=3 HTTP/1.1", "",
		"GET /history?follow=true&after=0 HTTP/1.1\r\nAccept: text/event-stream\r\nLast-Event-ID: 3", "",
		"PUT /secrets/mutant HTTP/1.1", `{"value": "v"}`,
		"PATCH /subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler/jobCollections/mutants/jobs/j?api-version=2016-03-01 HTTP/1.1",
		`{"properties": {"recurrence": {"frequency": "Day"}}}`,
		"POST /api/v2/job_templates/default.mutant/schedules/ HTTP/1.1", `{"name": "n", "rrule": "DTSTART:20310101T000000Z RRULE:FREQ=DAILY;INTERVAL=1"}`,
	)
}

// queueRequests are whole requests to the storage queue emulator.
func queueRequests(host string) [][]byte {
	return texts(host,
		"GET /devstoreaccount1?comp=list&prefix=q&maxresults=3&include=metadata HTTP/1.1", "",
		"PUT /devstoreaccount1/mutants HTTP/1.1\r\nx-ms-meta-a: b", "",
		"POST /devstoreaccount1/mutants/messages?visibilitytimeout=5&messagettl=60 HTTP/1.1",
		"<QueueMessage><MessageText>hello &amp; bye</MessageText></QueueMessage>",
		"GET /devstoreaccount1/mutants/messages?numofmessages=32&visibilitytimeout=1 HTTP/1.1", "",
		"PUT /devstoreaccount1/mutants/messages/11111111-2222-3333-4444-555555555555?popreceipt=x&visibilitytimeout=0 HTTP/1.1",
		"<QueueMessage><MessageText>again</MessageText></QueueMessage>",
		"PUT /devstoreaccount1/mutants?comp=acl HTTP/1.1",
		`<?xml version="1.0"?><SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy><Permission>raup</Permission></AccessPolicy>`+
			`</SignedIdentifier></SignedIdentifiers>`,
		"PUT /devstoreaccount1?restype=service&comp=properties HTTP/1.1",
		"<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins></CorsRule></Cors></StorageServiceProperties>",
	)
}

// texts puts requests together, of lines and bodies.
func texts(host string, parts ...string) (all [][]byte) {
	for i := 0; i < len(parts); i += 2 {
		line, body := parts[i], parts[i+1]
		all = append(all, fmt.Appendf(nil, "%s\r\nHost: %s\r\nx-ms-version: 2021-12-02\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			line, host, len(body), body))
	}
	return all
}

// frames records what Azure's client for Go writes while it sends, receives and settles.
func frames(t *testing.T, p process) [][]byte {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	heard := make(chan []byte, 1)
	go func() {
		var written bytes.Buffer
		defer func() { heard <- written.Bytes() }()
		client, err := l.Accept()
		if err != nil {
			return
		}
		defer client.Close()
		server, err := net.Dial("tcp", p.AMQP)
		if err != nil {
			return
		}
		defer server.Close()
		go func() { _, _ = io.Copy(client, server) }()
		_, _ = io.Copy(io.MultiWriter(server, &written), client)
	}()
	talk(t, strings.Replace(p.ServiceBus, p.AMQP, l.Addr().String(), 1))
	whole := <-heard
	all := [][]byte{whole}
	for part := 1; part < 8; part++ { // a client that is cut off
		all = append(all, whole[:len(whole)*part/8])
	}
	return all
}

// talk sends a message, and receives and settles it.
func talk(t *testing.T, connection string) {
	t.Helper()
	client := must.Get(azservicebus.NewClientFromConnectionString(connection, nil))(t)
	defer func() { _ = client.Close(context.Background()) }()
	sender := must.Get(client.NewSender("mutants", nil))(t)
	must.Do(t, sender.SendMessage(t.Context(), &azservicebus.Message{Body: []byte("hello"), ApplicationProperties: map[string]any{"n": 1}}, nil))
	receiver := must.Get(client.NewReceiverForQueue("mutants", nil))(t)
	messages := must.Get(receiver.ReceiveMessages(t.Context(), 1, nil))(t)
	must.Do(t, receiver.CompleteMessage(t.Context(), messages[0], nil))
}

// conversation writes all that a client would, without listening, and waits until the server ends the connection, which it
// does when there is nothing to wait for.
func conversation(addr string) func([]byte) (string, string) {
	return func(b []byte) (string, string) {
		conn, end, err := say(addr, b)
		if err != nil {
			return "refused", "refused"
		}
		defer conn.Close()
		end()
		n, err := io.Copy(io.Discard, conn)
		if isTimeout(err) {
			return "left open", "left open"
		}
		if n == 0 {
			return "closed", ""
		}
		return "answered, closed", ""
	}
}
