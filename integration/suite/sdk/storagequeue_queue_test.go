package sdk

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func TestStorageQueueCreate(t *testing.T) {
	w := newStorage(t)
	create := func(metadata map[string]*string) (int, error) {
		var answer *http.Response
		_, err := w.service.CreateQueue(policy.WithCaptureResponse(w.ctx, &answer), "orders", &azqueue.CreateOptions{Metadata: metadata})
		return answer.StatusCode, err
	}
	status, err := create(map[string]*string{"stage": new("test")})
	if err != nil || status != http.StatusCreated {
		t.Errorf("a new queue: got %d, %v", status, err)
	}
	status, err = create(map[string]*string{"stage": new("test")})
	if err != nil || status != http.StatusNoContent {
		t.Errorf("the same again: got %d, %v", status, err)
	}
	_, err = create(map[string]*string{"stage": new("live")})
	w.refused(err, http.StatusConflict, queueerror.QueueAlreadyExists)
	_, err = create(nil)
	w.refused(err, http.StatusConflict, queueerror.QueueAlreadyExists)

	q := w.service.NewQueueClient("orders")
	must.Get(q.Delete(w.ctx, nil))(w.t)
	_, err = q.Delete(w.ctx, nil)
	w.refused(err, http.StatusNotFound, queueerror.QueueNotFound)
	if status, err := create(nil); err != nil || status != http.StatusCreated {
		t.Errorf("after its deletion: got %d, %v", status, err)
	}
}

func TestStorageQueueNames(t *testing.T) {
	w := newStorage(t)
	tests := []struct {
		name string
		code queueerror.Code // "" for a good name
	}{
		{"abc", ""},
		{strings.Repeat("a", 63), ""},
		{"0-a-0", ""},
		{"ab", queueerror.OutOfRangeInput},
		{strings.Repeat("a", 64), queueerror.OutOfRangeInput},
		{"Orders", queueerror.InvalidResourceName},
		{"a--b", queueerror.InvalidResourceName},
		{"-ab", queueerror.InvalidResourceName},
		{"ab-", queueerror.InvalidResourceName},
		{"a_b", queueerror.InvalidResourceName},
	}
	for _, test := range tests {
		_, err := w.service.CreateQueue(w.ctx, test.name, nil)
		if test.code != "" {
			w.refused(err, http.StatusBadRequest, test.code)
		} else if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestStorageQueueMetadata(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	w.put(q, "one", nil)
	w.put(q, "two", &azqueue.EnqueueMessageOptions{VisibilityTimeout: seconds(60)})
	_, err := q.SetMetadata(w.ctx, &azqueue.SetMetadataOptions{Metadata: map[string]*string{"a": new("1"), "b_2": new("x y")}})
	must.Do(w.t, err)
	got := must.Get(q.GetProperties(w.ctx, nil))(w.t)
	want := map[string]*string{"A": new("1"), "B_2": new("x y")} // the SDK gets them from headers, whose case Go changes
	if diff := cmp.Diff(want, got.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if *got.ApproximateMessagesCount != 2 {
		t.Errorf("got %d messages, want 2", *got.ApproximateMessagesCount)
	}
	if got.Date == nil || got.RequestID == nil || got.Version == nil {
		t.Errorf("got %+v", got)
	}
	reply := w.request(http.MethodHead, w.url+"/orders?comp=metadata", "", nil)
	if reply.status != http.StatusOK || reply.header.Get("x-ms-approximate-messages-count") != "2" || reply.header.Get("x-ms-meta-a") != "1" || reply.body != "" {
		t.Errorf("HEAD: got %v %q", reply, reply.body)
	}
	must.Get(q.SetMetadata(w.ctx, nil))(w.t)
	got, err = q.GetProperties(w.ctx, nil)
	if err != nil || len(got.Metadata) != 0 {
		t.Errorf("after it was removed: %v, %v", got.Metadata, err)
	}
	_, err = w.service.NewQueueClient("nothing").GetProperties(w.ctx, nil)
	w.refused(err, http.StatusNotFound, queueerror.QueueNotFound)
	_, err = w.service.NewQueueClient("nothing").SetMetadata(w.ctx, nil)
	w.refused(err, http.StatusNotFound, queueerror.QueueNotFound)
}

func TestStorageQueueBadMetadata(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	anything := deviation(t, "it takes any metadata", false, true)
	for _, test := range []struct {
		name, value string
		code        queueerror.Code
	}{
		{"1a", "x", queueerror.InvalidMetadata},
		{"a-b", "x", queueerror.InvalidMetadata},
		{"large", strings.Repeat("x", 8<<10), queueerror.MetadataTooLarge},
	} {
		_, err := q.SetMetadata(w.ctx, &azqueue.SetMetadataOptions{Metadata: map[string]*string{test.name: &test.value}})
		if anything {
			must.Do(w.t, err)
		} else {
			w.refused(err, http.StatusBadRequest, test.code)
		}
	}
}

func TestStorageQueueList(t *testing.T) {
	w := newStorage(t)
	if queues := w.list(nil); len(queues) != 0 {
		t.Errorf("an empty account has %d queues", len(queues))
	}
	var want []string
	for i := range 7 {
		name := fmt.Sprintf("queue-%d", i)
		must.Get(w.service.CreateQueue(w.ctx, name, &azqueue.CreateOptions{Metadata: map[string]*string{"camelCase": new(name)}}))(w.t)
		want = append(want, name)
	}
	w.queue("other")

	names := func(queues []*azqueue.Queue) []string {
		var names []string
		for _, queue := range queues {
			names = append(names, *queue.Name)
		}
		return names
	}
	if diff := cmp.Diff(append([]string{"other"}, want...), names(w.list(nil))); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	queues := w.list(&azqueue.ListQueuesOptions{Prefix: new("queue-"), Include: azqueue.ListQueuesInclude{Metadata: true}})
	if diff := cmp.Diff(want, names(queues)); diff != "" {
		t.Errorf("with a prefix (-want +got):\n%s", diff)
	}
	for _, queue := range queues {
		value := queue.Metadata["camelcase"] // the SDK changes the case
		if len(queue.Metadata) != 1 || value == nil || *value != *queue.Name {
			t.Errorf("%s: got metadata %v", *queue.Name, queue.Metadata)
		}
	}
	for _, queue := range w.list(nil) {
		if len(queue.Metadata) != 0 {
			t.Errorf("%s: metadata that was not asked for", *queue.Name)
		}
	}

	var pages [][]string
	for pager := w.service.NewListQueuesPager(&azqueue.ListQueuesOptions{Prefix: new("queue-"), MaxResults: seconds(3)}); pager.More(); {
		page := must.Get(pager.NextPage(w.ctx))(w.t)
		if *page.MaxResults != 3 || *page.Prefix != "queue-" || !strings.Contains(*page.ServiceEndpoint, "devstoreaccount1") {
			t.Errorf("got page %+v", page)
		}
		pages = append(pages, names(page.Queues))
	}
	if diff := cmp.Diff([][]string{want[:3], want[3:6], want[6:]}, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	_, err := w.service.NewListQueuesPager(&azqueue.ListQueuesOptions{MaxResults: seconds(0)}).NextPage(w.ctx)
	w.badNumber(err, queueerror.OutOfRangeQueryParameterValue)
}

// TestStorageQueueMetadataCase has names in camel case, which come back so.
func TestStorageQueueMetadataCase(t *testing.T) {
	w := newStorage(t)
	if reply := w.request(http.MethodPut, w.url+"/orders", "", http.Header{"x-ms-meta-camelCase": {"x"}}); reply.status != http.StatusCreated {
		t.Fatalf("got %d %s", reply.status, reply.body)
	}
	body := w.request(http.MethodGet, w.url+"/?comp=list&include=metadata", "", nil).body
	if !strings.Contains(body, "<camelCase>x</camelCase>") {
		t.Errorf("got %s", body)
	}
}

// TestStorageQueueListOrder has names that were not made in their order.
func TestStorageQueueListOrder(t *testing.T) {
	w := newStorage(t)
	for _, name := range []string{"ccc", "aaa", "bbb", "ddd"} {
		w.queue(name)
	}
	var got []string
	pager := w.service.NewListQueuesPager(&azqueue.ListQueuesOptions{MaxResults: seconds(2)})
	for range 2 {
		page := must.Get(pager.NextPage(w.ctx))(w.t)
		for _, queue := range page.Queues {
			got = append(got, *queue.Name)
		}
	}
	want := deviation(t, "its marker counts in the order of creation, so paging in the order of names begins again and again",
		[]string{"aaa", "bbb", "ccc", "ddd"}, []string{"aaa", "bbb", "aaa", "bbb"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStorageQueueAccessPolicies(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	got, err := q.GetAccessPolicy(w.ctx, nil)
	if err != nil || len(got.SignedIdentifiers) != 0 {
		t.Fatalf("a new queue: %v, %v", got.SignedIdentifiers, err)
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	expiry := start.AddDate(10, 0, 0)
	want := []*azqueue.SignedIdentifier{
		{ID: new("readers"), AccessPolicy: &azqueue.AccessPolicy{Start: &start, Expiry: &expiry, Permission: new("r")}},
		{ID: new("workers"), AccessPolicy: &azqueue.AccessPolicy{Start: &start, Expiry: &expiry, Permission: new("raup")}},
	}
	must.Get(q.SetAccessPolicy(w.ctx, &azqueue.SetAccessPolicyOptions{QueueACL: want}))(w.t)
	got = must.Get(q.GetAccessPolicy(w.ctx, nil))(w.t)
	if diff := cmp.Diff(want, got.SignedIdentifiers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if reply := w.request(http.MethodHead, w.url+"/orders?comp=acl", "", nil); reply.status != http.StatusOK {
		t.Errorf("HEAD: got %d", reply.status)
	}

	six := make([]*azqueue.SignedIdentifier, 6)
	for i := range six {
		six[i] = &azqueue.SignedIdentifier{ID: new(strconv.Itoa(i)), AccessPolicy: want[0].AccessPolicy}
	}
	_, err = q.SetAccessPolicy(w.ctx, &azqueue.SetAccessPolicyOptions{QueueACL: six})
	w.refused(err, http.StatusBadRequest, queueerror.InvalidXMLDocument)

	must.Get(q.SetAccessPolicy(w.ctx, &azqueue.SetAccessPolicyOptions{QueueACL: []*azqueue.SignedIdentifier{}}))(w.t)
	got, err = q.GetAccessPolicy(w.ctx, nil)
	if err != nil || len(got.SignedIdentifiers) != 0 {
		t.Errorf("after they were removed: %v, %v", got.SignedIdentifiers, err)
	}
	_, err = w.service.NewQueueClient("nothing").GetAccessPolicy(w.ctx, nil)
	w.refused(err, http.StatusNotFound, queueerror.QueueNotFound)
}
