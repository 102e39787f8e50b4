package sdk

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"maps"
	"net/http"
	neturl "net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// The suite of storage queues also runs against Azurite, unchanged:
//
//	go test ./integration/suite/sdk -run StorageQueue -azurite http://127.0.0.1:10001/devstoreaccount1
//
// The folder azurite starts one, does that and stops it.
var azurite = flag.String("azurite", "", "URL of the queue endpoint of Azurite; \"\" tests the emulator of this repository")

// storageWait bounds every call of the SDK.
const storageWait = 20 * time.Second

// A storageWorld is an emulator and clients of it.
type storageWorld struct {
	t       *testing.T
	ctx     context.Context //nolint:containedctx // of the test
	url     string          // of the account
	cred    *azqueue.SharedKeyCredential
	service *azqueue.ServiceClient
}

// newStorage returns a world with a fresh emulator, or with Azurite and without the queues of earlier tests.
func newStorage(t *testing.T) *storageWorld {
	t.Helper()
	url := *azurite
	if url == "" {
		server := must.Get(storagequeue.Start(t.Context(), storagequeue.Config{Addr: "127.0.0.1:0"}))(t)
		t.Cleanup(func() { must.Do(t, server.Close()) })
		url = server.URL() + "/" + storagequeue.DefaultAccount
	}
	ctx, cancel := context.WithTimeout(t.Context(), storageWait)
	t.Cleanup(cancel)
	w := &storageWorld{t: t, ctx: ctx, url: url}
	var err error
	w.cred, err = azqueue.NewSharedKeyCredential(storagequeue.DefaultAccount, storagequeue.DefaultKey)
	must.Do(w.t, err)
	w.service, err = azqueue.NewServiceClientWithSharedKeyCredential(url, w.cred, storageOptions())
	must.Do(w.t, err)
	if *azurite != "" {
		for _, queue := range w.list(nil) {
			must.Get(w.service.DeleteQueue(ctx, *queue.Name, nil))(w.t)
		}
		must.Get(w.service.SetProperties(ctx, &azqueue.SetPropertiesOptions{CORS: []*azqueue.CORSRule{}}))(w.t)
	}
	return w
}

// storageOptions are new for every client: the SDK keeps the key of one in the options and would use it for the next.
func storageOptions() *azqueue.ClientOptions {
	return &azqueue.ClientOptions{ClientOptions: policy.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}}}
}

// deviation says where Azurite differs from the service, whose answer the emulator gives.
func deviation[T any](t *testing.T, what string, service, azurites T) T {
	t.Helper()
	if *azurite == "" {
		return service
	}
	t.Logf("deviation of Azurite: %s", what)
	return azurites
}

// queue makes a queue.
func (w *storageWorld) queue(name string) *azqueue.QueueClient {
	w.t.Helper()
	must.Get(w.service.CreateQueue(w.ctx, name, nil))(w.t)
	return w.service.NewQueueClient(name)
}

func (w *storageWorld) list(options *azqueue.ListQueuesOptions) []*azqueue.Queue {
	w.t.Helper()
	var queues []*azqueue.Queue
	for pager := w.service.NewListQueuesPager(options); pager.More(); {
		page := must.Get(pager.NextPage(w.ctx))(w.t)
		queues = append(queues, page.Queues...)
	}
	return queues
}

func (w *storageWorld) put(q *azqueue.QueueClient, text string, options *azqueue.EnqueueMessageOptions) *azqueue.EnqueuedMessage {
	w.t.Helper()
	answer := must.Get(q.EnqueueMessage(w.ctx, text, options))(w.t)
	if len(answer.Messages) != 1 {
		w.t.Fatalf("put answered %d messages", len(answer.Messages))
	}
	return answer.Messages[0]
}

// take gets up to n messages, hidden for the given number of seconds.
func (w *storageWorld) take(q *azqueue.QueueClient, n, hidden int32) []*azqueue.DequeuedMessage {
	w.t.Helper()
	answer := must.Get(q.DequeueMessages(w.ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: &n, VisibilityTimeout: &hidden}))(w.t)
	return answer.Messages
}

// takeOne waits for the only message that becomes visible.
func (w *storageWorld) takeOne(q *azqueue.QueueClient, hidden int32) *azqueue.DequeuedMessage {
	w.t.Helper()
	var messages []*azqueue.DequeuedMessage
	w.until("a message is visible", func() bool {
		messages = w.take(q, 32, hidden)
		return len(messages) > 0
	})
	if len(messages) != 1 {
		w.t.Fatalf("got %d messages, want one", len(messages))
	}
	return messages[0]
}

func (w *storageWorld) peek(q *azqueue.QueueClient, n int32) []*azqueue.PeekedMessage {
	w.t.Helper()
	answer := must.Get(q.PeekMessages(w.ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: &n}))(w.t)
	return answer.Messages
}

// until polls for a condition.
func (w *storageWorld) until(what string, condition func() bool) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-w.ctx.Done():
			w.t.Fatal("never: " + what)
		}
	}
}

// refused checks an error: its status and its code, which is also in the body.
func (w *storageWorld) refused(err error, status int, code queueerror.Code) {
	w.t.Helper()
	refused, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok || refused.StatusCode != status || !queueerror.HasCode(err, code) {
		w.t.Fatalf("got %v; want %d %s", err, status, code)
	}
	if body := refused.Error(); refused.RawResponse.Request.Method != http.MethodHead && !strings.Contains(body, "<Code>"+string(code)+"</Code>") {
		w.t.Errorf("the code %s is not in the body: %s", code, body)
	}
	if refused.RawResponse.Header.Get("x-ms-request-id") == "" {
		w.t.Error("no x-ms-request-id")
	}
}

// badNumber checks the error of a number that is beyond its bounds.
func (w *storageWorld) badNumber(err error, code queueerror.Code) {
	w.t.Helper()
	refused, ok := errors.AsType[*azcore.ResponseError](err)
	if ok && refused.StatusCode == http.StatusBadRequest && refused.ErrorCode == "" &&
		deviation(w.t, "it answers some numbers beyond their bounds without a code", false, true) {
		return
	}
	w.refused(err, http.StatusBadRequest, code)
}

// A storageAnswer is an answer as it came.
type storageAnswer struct {
	status int
	header http.Header
	body   string
}

// summary is the status and, if there is one, the code in the header, which is also in the body.
func (a storageAnswer) summary() string {
	code := a.header.Get("x-ms-error-code")
	if code != "" && a.body != "" && !strings.Contains(a.body, "<Code>"+code+"</Code>") {
		return "another code in the body"
	}
	return strings.TrimSpace(strconv.Itoa(a.status) + " " + code)
}

// request sends what the SDK would not, signed by the SDK.
func (w *storageWorld) request(method, url, body string, header http.Header) storageAnswer {
	w.t.Helper()
	var got *storageAnswer
	options := storageOptions()
	options.PerCallPolicies = []policy.Policy{rewriting(func(r *http.Request) error {
		r.Method = method
		var err error
		r.URL, err = r.URL.Parse(url)
		maps.Copy(r.Header, header)
		return err
	}, body, func(r *http.Response) {
		text, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(text))
		got = &storageAnswer{r.StatusCode, r.Header, string(text)}
	})}
	client, err := azqueue.NewServiceClientWithSharedKeyCredential(w.url, w.cred, options)
	must.Do(w.t, err)
	if _, err = client.GetServiceProperties(w.ctx, nil); got == nil {
		w.t.Fatal(err)
	}
	return *got
}

// A rewriter is a policy of the SDK.
type rewriter func(*policy.Request) (*http.Response, error)

// Do is for the SDK.
func (f rewriter) Do(r *policy.Request) (*http.Response, error) { return f(r) }

// rewriting changes a request before it is signed, and looks at its answer.
func rewriting(change func(*http.Request) error, body string, look func(*http.Response)) policy.Policy {
	return rewriter(func(r *policy.Request) (*http.Response, error) {
		if err := change(r.Raw()); err != nil {
			return nil, err
		}
		if body != "" {
			if err := r.SetBody(nopCloser{strings.NewReader(body)}, "application/xml"); err != nil {
				return nil, err
			}
		}
		answer, err := r.Next()
		if err == nil {
			look(answer)
		}
		return answer, err
	})
}

type nopCloser struct{ io.ReadSeeker }

// Close is for the SDK.
func (nopCloser) Close() error { return nil }

// seconds is an optional number.
func seconds(n int32) *int32 { return new(n) }

// escaped is a text as it is in a query.
func escaped(s string) string { return neturl.QueryEscape(s) }
