package storagequeue_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/sas"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// members are those of queueMessage.
type members map[string]any

// attempt is the second try of an occurrence.
func attempt() scheduler.Attempt { return actiontest.Attempt() }

// job is a member queueMessage that is right, with changes; nil removes a member.
func job(changes members) members {
	m := members{"storageAccount": "myaccount", "queueName": "myqueue", "sasToken": "TOKEN", "message": "hello"}
	for name, value := range changes {
		m[name] = value
		if value == nil {
			delete(m, name)
		}
	}
	return m
}

// read reads an action, and returns the document as it is then.
func read(tb testing.TB, client *storagequeue.Client, m members) (scheduler.Action, document.Value, error) {
	tb.Helper()
	text := must.Get(json.Marshal(map[string]any{"queueMessage": m}))(tb)
	return actiontest.Read(tb, client, "StorageQueue", string(text))
}

// mustRead is read for members that are right.
func mustRead(tb testing.TB, client *storagequeue.Client, m members) scheduler.Action {
	tb.Helper()
	action, _, err := read(tb, client, m)
	if err != nil {
		tb.Fatal(err)
	}
	return action
}

// newClient returns a client that is closed after the test.
func newClient(tb testing.TB, config storagequeue.Config) *storagequeue.Client {
	tb.Helper()
	client := storagequeue.New(config)
	tb.Cleanup(client.Close)
	return client
}

// A harness is an emulator that verifies signatures, an action client that takes it for Azure, and an SDK client to look
// into it with.
type harness struct {
	tb      testing.TB
	server  *emulator.Server
	actions *storagequeue.Client
	key     *azqueue.SharedKeyCredential
	service *azqueue.ServiceClient
}

func newHarness(tb testing.TB, config emulator.Config) *harness {
	tb.Helper()
	config.Addr = "127.0.0.1:0"
	config.Accounts = map[string]string{"myaccount": emulator.DefaultKey}
	server, err := emulator.Start(tb.Context(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := server.Close(); err != nil {
			tb.Error(err)
		}
	})
	w := &harness{tb: tb, server: server}
	w.actions = newClient(tb, storagequeue.Config{Endpoints: egress.Endpoints{Default: server.URL() + "/{name}"}, Region: "here"})
	w.key, err = azqueue.NewSharedKeyCredential("myaccount", emulator.DefaultKey)
	w.must(err)
	transport := &http.Transport{}
	tb.Cleanup(transport.CloseIdleConnections)
	w.service, err = azqueue.NewServiceClientWithSharedKeyCredential(server.URL()+"/myaccount", w.key, &azqueue.ClientOptions{
		ClientOptions: policy.ClientOptions{Transport: &http.Client{Transport: transport}, Retry: policy.RetryOptions{MaxRetries: -1}},
	})
	w.must(err)
	return w
}

func (w *harness) must(err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatal(err)
	}
}

// sign makes a token for myqueue.
func (w *harness) sign(change func(*sas.QueueSignatureValues)) string {
	w.tb.Helper()
	values := sas.QueueSignatureValues{
		Protocol: sas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(time.Hour).UTC(), Permissions: "a", QueueName: "myqueue",
	}
	if change != nil {
		change(&values)
	}
	signed, err := values.SignWithSharedKey(w.key)
	w.must(err)
	return signed.Encode()
}

// post runs an action that is right but for changes, and whose token is right unless it is changed.
func (w *harness) post(changes members) scheduler.Result {
	w.tb.Helper()
	if _, ok := changes["sasToken"]; !ok {
		changes = job(changes)
		changes["sasToken"] = w.sign(nil)
	}
	return mustRead(w.tb, w.actions, job(changes)).Invoke(w.tb.Context(), attempt())
}

// get takes all messages.
func (w *harness) get() []*azqueue.DequeuedMessage {
	w.tb.Helper()
	answer, err := w.service.NewQueueClient("myqueue").DequeueMessages(w.tb.Context(), &azqueue.DequeueMessagesOptions{
		NumberOfMessages: new(int32(32)),
	})
	w.must(err)
	return answer.Messages
}

// texts are those of all messages.
func (w *harness) texts() []string {
	w.tb.Helper()
	var texts []string
	for _, m := range w.get() {
		texts = append(texts, *m.MessageText)
	}
	return texts
}

// wantFailure checks a result. message may have a * for what differs from run to run.
func wantFailure(t *testing.T, got scheduler.Result, status int, final bool, message string) {
	t.Helper()
	if !got.Failed || got.Status != status || got.Final != final || !matches(got.Message, message) {
		t.Errorf("got  %+v\nwant status %d, final %t, %s", got, status, final, message)
	}
}

// tripper is a transport without a network.
type tripper = actiontest.Tripper

// serve returns an action client whose service is a function.
func serve(tb testing.TB, f tripper) *storagequeue.Client {
	tb.Helper()
	return newClient(tb, storagequeue.Config{Transport: f})
}

// lines shows what differs in a list of problems.
func lines(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err)
}
