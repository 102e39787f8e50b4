package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
)

// TestConsume sends one message to each, and reads what is printed.
func TestConsume(t *testing.T) {
	emulators := emulatortest.New(t)
	send(t, emulators)
	ports := filepath.Join(t.TempDir(), "ports.json")
	data, err := json.Marshal(map[string]string{
		"http": "http://127.0.0.1:1", "serviceBus": emulators.ServiceBus.ConnectionString(), "storageQueue": emulators.StorageQueue.ConnectionString(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ports, data, 0o600); err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	from, to := io.Pipe()
	ended := make(chan error, 1)
	server := natsServer(t)
	go func() {
		o := options{
			queue: "orders", topic: "sales", subscription: "all", storageQueue: "letters", http: "127.0.0.1:0",
			nats: server, subject: "lights.>",
		}
		err := start(ctx, to, ports, o)
		_ = to.Close()
		ended <- err
	}()
	var lines []string
	bodies := 0
	for scanner := bufio.NewScanner(from); bodies < 5 && scanner.Scan(); {
		line := scanner.Text()
		if address, ok := strings.CutPrefix(line, "listening on "); ok {
			go post(ctx, t, address+"/hook", "four")
		}
		if line == "subscribed to lights.>" {
			go publish(t, server, "lights.hall", "five")
		}
		if strings.HasPrefix(line, "storage queue ") {
			line = "storage queue letters  ID" // Azure's ids are its own
		}
		if slices.Contains([]string{"    one", "    two", "    and three", "    four", "    five"}, line) {
			bodies++
		}
		lines = append(lines, line)
	}
	stop()
	_, _ = io.Copy(io.Discard, from)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	all := strings.Join(lines, "\n")
	for _, want := range []string{
		"queue orders  m-1\n    {\"custom\":{\"n\":1},\"label\":\"l\"}\n    one",
		"topic sales/all  m-2\n    two",
		"storage queue letters  ID\n    three\n    and three",
		"http POST /hook  o-4\n    four",
		"subject lights.hall  o-5\n    five",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("not printed: %s\nin\n%s", want, all)
		}
	}
}

// natsServer returns the URL of a NATS server that ends with the test.
func natsServer(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	return s.ClientURL()
}

// post sends a request as a job does.
func post(ctx context.Context, t *testing.T, url, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Idempotency-Key", "o-4")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		t.Error("answered", answer.Status)
	}
}

// publish sends a message as a job does.
func publish(t *testing.T, url, subject, body string) {
	t.Helper()
	connection, err := nats.Connect(url)
	if err != nil {
		t.Error(err)
		return
	}
	defer connection.Close()
	m := &nats.Msg{Subject: subject, Data: []byte(body), Header: nats.Header{"Nats-Msg-Id": {"o-5"}}}
	if err := connection.PublishMsg(m); err != nil {
		t.Error(err)
	}
	if err := connection.Flush(); err != nil {
		t.Error(err)
	}
}

// send puts a message everywhere. The subscription has what comes after it was made, so it is made first.
func send(t *testing.T, emulators emulatortest.Emulators) {
	t.Helper()
	client, err := azservicebus.NewClientFromConnectionString(emulators.ServiceBus.ConnectionString(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(t.Context()) //nolint:errcheck // everything is sent
	receiver, err := client.NewReceiverForSubscription("sales", "all", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receiver.PeekMessages(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	for entity, message := range map[string]*azservicebus.Message{
		"orders": {Body: []byte("one"), MessageID: new("m-1"), Subject: new("l"), ApplicationProperties: map[string]any{"n": 1}},
		"sales":  {Body: []byte("two"), MessageID: new("m-2")},
	} {
		sender, err := client.NewSender(entity, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := sender.SendMessage(t.Context(), message, nil); err != nil {
			t.Fatal(err)
		}
	}
	queue, err := azqueue.NewQueueClientFromConnectionString(emulators.StorageQueue.ConnectionString(), "letters", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queue.Create(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := queue.EnqueueMessage(t.Context(), base64.StdEncoding.EncodeToString([]byte("three\nand three")), nil); err != nil {
		t.Fatal(err)
	}
}

func TestWithAccount(t *testing.T) {
	server := emulatortest.New(t).StorageQueue
	if got, want := withAccount(server.ConnectionString(), "CarillonExamples"), server.ConnectionStringFor("carillonexamples"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{"": "", "hello": "hello", "aGVsbG8=": "hello", "/////w==": "/////w==", `{"a": 1}`: `{"a": 1}`} {
		if got := plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestMistakes has what cannot be read.
func TestMistakes(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`{"http": "http://127.0.0.1:1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, test := range []struct {
		ports string
		o     options
	}{
		{"", options{}},
		{other, options{topic: "q"}},
		{other, options{storageQueue: "q"}},
		{other, options{subject: "q"}},
		{filepath.Join(t.TempDir(), "absent.json"), options{queue: "q"}},
		{broken, options{queue: "q"}},
		{"", options{queue: "q", serviceBus: "Endpoint=nowhere"}},
		{"", options{storageQueue: "q", storage: "nothing"}},
	} {
		err := start(t.Context(), io.Discard, test.ports, test.o)
		if err == nil {
			t.Fatalf("%+v is no mistake", test)
		}
		got = append(got, err.Error())
	}
	want := []string{
		"nothing to read: give --queue, --topic, --storage-queue, --http or --subject", "no connection string of Service Bus: give --service-bus",
		"no connection string of a storage account: give --storage",
		"no NATS server: give --nats", "absent.json: no such file", "broken.json: unexpected end", "queue q: ", "storage queue q: ",
	}
	if !slices.EqualFunc(got, want, strings.Contains) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
