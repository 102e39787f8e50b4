package receive_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/sas"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/actions/egress"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// storage is an emulator with the queue orders of the account myaccount.
type storage struct {
	*harness

	key     *azqueue.SharedKeyCredential
	service *azqueue.ServiceClient
	queue   *azqueue.QueueClient
}

func newStorage(t *testing.T) *storage {
	t.Helper()
	server := must.Get(emulator.Start(t.Context(), emulator.Config{
		Addr: "127.0.0.1:0", Accounts: map[string]string{"myaccount": emulator.DefaultKey},
	}))(t)
	t.Cleanup(func() { must.Do(t, server.Close()) })
	q := &storage{
		harness: newHarness(t, builtin.Config{StorageQueues: egress.Endpoints{Default: server.URL() + "/{name}"}}),
		key:     must.Get(azqueue.NewSharedKeyCredential("myaccount", emulator.DefaultKey))(t),
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	q.service = must.Get(azqueue.NewServiceClientWithSharedKeyCredential(server.URL()+"/myaccount", q.key, &azqueue.ClientOptions{
		ClientOptions: policy.ClientOptions{Transport: &http.Client{Transport: transport}, Retry: policy.RetryOptions{MaxRetries: -1}},
	}))(t)
	q.queue = q.service.NewQueueClient("orders")
	must.Get(q.queue.Create(t.Context(), nil))(t)
	return q
}

// source puts a source of the queue. A token for the whole account also permits the poison queue.
func (q *storage) source(name, rest string) {
	q.Helper()
	values := sas.AccountSignatureValues{
		Protocol: sas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(time.Hour).UTC(), Permissions: "racwup", ResourceTypes: "sco",
	}
	token := must.Get(values.SignWithSharedKey(q.key))(q)
	q.put(name, fmt.Sprintf(`{"type": "storageQueue", "storageQueue": {"connectionString": %q,
		"queueName": "orders"%s}}`, "AccountName=myaccount;SharedAccessSignature="+token.Encode(), rest))
}

func (q *storage) send(texts ...string) {
	q.Helper()
	for _, text := range texts {
		must.Get(q.queue.EnqueueMessage(q.Context(), text, nil))(q)
	}
}

// length returns the number of messages in a queue, also of those that are hidden; -1 if it does not exist.
func (q *storage) length(ctx context.Context, name string) int64 {
	q.Helper()
	p, err := q.service.NewQueueClient(name).GetProperties(ctx, nil)
	if err != nil {
		return -1
	}
	return *p.ApproximateMessagesCount
}

func (q *storage) awaitLength(name string, n int64) {
	q.Helper()
	must.Await(q, fmt.Sprint(n, " messages in ", name), func() bool { return q.length(q.Context(), name) == n })
}

// TestStorageQueue stores the messages of a queue, decoded, and deletes them.
func TestStorageQueue(t *testing.T) {
	q := newStorage(t)
	q.source("orders", "")
	m, _ := q.start()
	q.send(base64.StdEncoding.EncodeToString([]byte(`{"id":7}`)))
	e := q.want("orders", `{"id":7}`)[0]
	q.attribute(e, "dequeuecount", "1")
	if id := e.Attributes["messageid"]; id == "" || e.ID != id {
		t.Errorf("id %s, message %s", e.ID, id)
	}
	q.send(`{"id":8}`)
	q.want("orders", `{"id":7}`, `{"id":8}`)
	q.awaitLength("orders", 0)
	if status, _ := m.Status(key("orders")); status.Received != 2 || status.Lag == nil || status.LastError != "" {
		t.Errorf("%+v", status)
	}
}

// TestStorageQueueCrash stores a message once, although the process crashes before it deletes the message.
func TestStorageQueueCrash(t *testing.T) {
	q := newStorage(t)
	q.put("orders", fmt.Sprintf(`{"type": "storageQueue", "storageQueue": {"connectionString": %q, "queueName": "orders"}}`,
		"DefaultEndpointsProtocol=https;AccountName=myaccount;AccountKey="+emulator.DefaultKey+";EndpointSuffix=core.windows.net"))
	q.send(`1`)
	crashed := q.crash()
	_, stop := q.start()
	<-crashed
	stop()
	if n := q.length(q.Context(), "orders"); n != 1 {
		t.Fatalf("%d messages are left after the crash", n)
	}
	q.start()
	q.awaitLength("orders", 0)
	q.want("orders", `1`)
}

// TestStorageQueuePoison moves messages that cannot be events to the poison queue.
func TestStorageQueuePoison(t *testing.T) {
	q := newStorage(t)
	q.source("orders", "")
	m, _ := q.start()
	cloudEvent := `{"specversion":"1.0","id":"1"}`
	q.send(cloudEvent, strings.Repeat("x", scheduler.MaxEventSize))
	q.awaitLength("orders-poison", 1)
	q.awaitLength("orders", 0)
	q.want("orders", cloudEvent)
	if status, _ := m.Status(key("orders")); status.Refused != 1 {
		t.Errorf("%+v", status)
	}
}

// TestStorageQueueErrors reports what is wrong with a source, without its token.
func TestStorageQueueErrors(t *testing.T) {
	q := newStorage(t)
	q.source("missing", "")
	must.Get(q.queue.Delete(t.Context(), nil))(t)
	connection := func(name, text string) {
		q.put(name, fmt.Sprintf(`{"type": "storageQueue", "storageQueue": {"connectionString": %q, "queueName": "orders"}}`, text))
	}
	connection("key", "AccountName=myaccount;AccountKey=hush!")
	connection("account", "AccountName=no_account;AccountKey=hush")
	connection("update", "AccountName=myaccount;SharedAccessSignature=sv=2020-02-10&sp=rap&sig=hush")
	connection("permission", "AccountName=myaccount;SharedAccessSignature=sv=2020-02-10&sp=a&sig=hush")
	m, _ := q.start()
	for name, want := range map[string]string{
		"missing": "'QueueNotFound' (status 404)", "key": "storageQueue.connectionString: needs a SharedAccessSignature",
		"account": "has an AccountName or QueueEndpoint that", "permission": "does not permit processing messages: its sp=a has no p",
		"update": "does not permit updating messages: its sp=rap has no u",
	} {
		if status := q.failure(m, name); !strings.Contains(status.LastError, want) || strings.Contains(status.LastError, "hush") {
			t.Errorf("%s: %s", name, status.LastError)
		}
	}
}

// TestStorageQueueToken receives with a token for one queue, and reports that it cannot move messages.
func TestStorageQueueToken(t *testing.T) {
	q := newStorage(t)
	values := sas.QueueSignatureValues{
		Protocol: sas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(time.Hour).UTC(), Permissions: "rup", QueueName: "orders",
	}
	token := must.Get(values.SignWithSharedKey(q.key))(t)
	q.put("orders", fmt.Sprintf(`{"type": "storageQueue", "storageQueue": {"connectionString": %q,
		"queueName": "orders"}}`, "AccountName=myaccount;SharedAccessSignature="+token.Encode()))
	m, _ := q.start()
	q.send(`1`)
	q.want("orders", `1`)
	if status := q.failure(m, "orders"); !strings.Contains(status.LastError, "cannot move refused messages to queue orders-poison") {
		t.Errorf("%+v", status)
	}
}
