package sdk

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/sas"

	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// signed returns a client of the queue "orders" whose only right is a signature.
func (w *storageWorld) signed(values sas.QueueSignatureValues) *azqueue.QueueClient {
	w.t.Helper()
	values.QueueName = "orders"
	if values.Protocol == "" {
		values.Protocol = sas.ProtocolHTTPSandHTTP
	}
	token := must.Get(values.SignWithSharedKey(w.cred))(w.t)
	return must.Get(azqueue.NewQueueClientWithNoCredential(w.url+"/orders?"+token.Encode(), storageOptions()))(w.t)
}

// accountSigned returns a client of the account whose only right is a signature.
func (w *storageWorld) accountSigned(permissions, types string) *azqueue.ServiceClient {
	w.t.Helper()
	token := must.Get(sas.AccountSignatureValues{
		Protocol: sas.ProtocolHTTPSandHTTP, ExpiryTime: time.Now().Add(time.Hour).UTC(), Permissions: permissions, ResourceTypes: types,
	}.SignWithSharedKey(w.cred))(w.t)
	return must.Get(azqueue.NewServiceClientWithNoCredential(w.url+"/?"+token.Encode(), storageOptions()))(w.t)
}

func soon() time.Time { return time.Now().Add(time.Hour).UTC() }

func TestStorageQueueWrongKey(t *testing.T) {
	w := newStorage(t)
	wrong, err := azqueue.NewSharedKeyCredential(storagequeue.DefaultAccount, base64.StdEncoding.EncodeToString([]byte("wrong")))
	must.Do(w.t, err)
	service := must.Get(azqueue.NewServiceClientWithSharedKeyCredential(w.url, wrong, storageOptions()))(w.t)
	_, err = service.CreateQueue(w.ctx, "orders", nil)
	w.refused(err, http.StatusForbidden, queueerror.AuthenticationFailed)

	nobody := must.Get(azqueue.NewServiceClientWithNoCredential(w.url, storageOptions()))(w.t)
	_, err = nobody.CreateQueue(w.ctx, "orders", nil)
	if deviation(t, "it answers those who do not say who they are as those who are wrong", false, true) {
		w.refused(err, http.StatusForbidden, queueerror.AuthenticationFailed)
	} else {
		w.refused(err, http.StatusUnauthorized, "NoAuthenticationInformation")
	}
	if queues := w.list(nil); len(queues) != 0 {
		t.Errorf("there are %d queues", len(queues))
	}
}

func TestStorageQueueConnectionString(t *testing.T) {
	w := newStorage(t)
	service := must.Get(azqueue.NewServiceClientFromConnectionString("DefaultEndpointsProtocol=http;AccountName="+storagequeue.DefaultAccount+
		";AccountKey="+storagequeue.DefaultKey+";QueueEndpoint="+w.url+";", storageOptions()))(w.t)
	must.Get(service.CreateQueue(w.ctx, "orders", nil))(t)
}

// TestStorageQueuePermissions has a signature of a queue for each permission, and what it may do.
func TestStorageQueuePermissions(t *testing.T) {
	w := newStorage(t)
	owner := w.queue("orders")
	never := deviation(t, "what no signature of a queue may do", queueerror.AuthorizationFailure, queueerror.AuthorizationPermissionMismatch)
	for _, permission := range []string{"r", "a", "u", "p"} {
		must.Get(owner.ClearMessages(w.ctx, nil))(w.t)
		put := w.put(owner, "x", &azqueue.EnqueueMessageOptions{VisibilityTimeout: seconds(60)})
		q := w.signed(sas.QueueSignatureValues{ExpiryTime: soon(), Permissions: permission})
		_, peek := q.PeekMessage(w.ctx, nil)
		_, properties := q.GetProperties(w.ctx, nil)
		_, add := q.EnqueueMessage(w.ctx, "y", nil)
		updated, update := q.UpdateMessage(w.ctx, *put.MessageID, *put.PopReceipt, "z", &azqueue.UpdateMessageOptions{VisibilityTimeout: seconds(60)})
		receipt := put.PopReceipt
		if update == nil {
			receipt = updated.PopReceipt
		}
		_, get := q.DequeueMessage(w.ctx, nil)
		_, del := q.DeleteMessage(w.ctx, *put.MessageID, *receipt, nil)
		_, clearAll := q.ClearMessages(w.ctx, nil)
		_, metadata := q.SetMetadata(w.ctx, nil)
		_, policies := q.GetAccessPolicy(w.ctx, nil)
		_, remove := q.Delete(w.ctx, nil)
		for _, step := range []struct {
			name string
			err  error
			need string
		}{
			{"peek", peek, "r"},
			{"properties", properties, "r"},
			{"put", add, "a"},
			{"update", update, "u"},
			{"get", get, "p"},
			{"delete", del, "p"},
			{"clear", clearAll, "none"},
			{"set metadata", metadata, "none"},
			{"get policies", policies, "none"},
			{"delete the queue", remove, "none"},
		} {
			switch {
			case step.need == "none":
				w.refused(step.err, http.StatusForbidden, never)
			case step.need != permission:
				w.refused(step.err, http.StatusForbidden, queueerror.AuthorizationPermissionMismatch)
			case step.err != nil:
				t.Errorf("%s with %s: %v", step.name, permission, step.err)
			}
		}
	}
}

func TestStorageQueueSignatures(t *testing.T) {
	w := newStorage(t)
	w.queue("orders")
	other := w.queue("other")
	for _, test := range []struct {
		name   string
		values sas.QueueSignatureValues
		code   queueerror.Code
	}{
		{"expired", sas.QueueSignatureValues{ExpiryTime: time.Now().Add(-time.Minute).UTC()}, queueerror.AuthenticationFailed},
		{"not yet", sas.QueueSignatureValues{StartTime: soon(), ExpiryTime: soon().Add(time.Hour)}, queueerror.AuthenticationFailed},
		{"started", sas.QueueSignatureValues{StartTime: time.Now().Add(-time.Hour).UTC(), ExpiryTime: soon()}, ""},
		{"HTTPS only", sas.QueueSignatureValues{ExpiryTime: soon(), Protocol: sas.ProtocolHTTPS}, queueerror.AuthorizationProtocolMismatch},
		{"another version", sas.QueueSignatureValues{ExpiryTime: soon(), Version: "2026-04-06"}, ""},
		{"this source", sas.QueueSignatureValues{ExpiryTime: soon(), IPRange: sas.IPRange{Start: net.IPv4(127, 0, 0, 1)}}, ""},
		{"a range of sources", sas.QueueSignatureValues{
			ExpiryTime: soon(), IPRange: sas.IPRange{Start: net.IPv4(127, 0, 0, 0), End: net.IPv4(127, 0, 0, 9)},
		}, ""},
		{
			"another source",
			sas.QueueSignatureValues{ExpiryTime: soon(), IPRange: sas.IPRange{Start: net.IPv4(10, 0, 0, 1)}},
			deviation(t, "it does not look at sources", queueerror.AuthorizationSourceIPMismatch, ""),
		},
	} {
		test.values.Permissions = "a"
		_, err := w.signed(test.values).EnqueueMessage(w.ctx, "x", nil)
		switch {
		case test.code != "":
			w.refused(err, http.StatusForbidden, test.code)
		case err != nil:
			t.Errorf("%s: %v", test.name, err)
		}
	}

	token := w.signed(sas.QueueSignatureValues{ExpiryTime: soon(), Permissions: "a"}).URL()
	for name, url := range map[string]string{
		"of another queue": strings.Replace(token, "/orders?", "/other?", 1),
		"more permissions": strings.Replace(token, "sp=a", "sp=aurp", 1),
		"no signature":     strings.Replace(token, "sig=", "sig=AAAA&other=", 1),
	} {
		q, err := azqueue.NewQueueClientWithNoCredential(url, storageOptions())
		must.Do(w.t, err)
		_, err = q.EnqueueMessage(w.ctx, "x", nil)
		t.Log(name)
		w.refused(err, http.StatusForbidden, queueerror.AuthenticationFailed)
	}
	if seen := w.peek(other, 1); len(seen) != 0 {
		t.Errorf("got %v", seen)
	}

	// What the SDK makes is for HTTPS.
	url, err := w.service.NewQueueClient("orders").GetSASURL(sas.QueuePermissions{Add: true}, soon(), nil)
	must.Do(w.t, err)
	q := must.Get(azqueue.NewQueueClientWithNoCredential(url, storageOptions()))(w.t)
	_, err = q.EnqueueMessage(w.ctx, "x", nil)
	w.refused(err, http.StatusForbidden, queueerror.AuthorizationProtocolMismatch)
}

func TestStorageQueueStoredPolicies(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	now := time.Now().UTC()
	policy := func(id, permission string, expiry time.Time) *azqueue.SignedIdentifier {
		return &azqueue.SignedIdentifier{ID: &id, AccessPolicy: &azqueue.AccessPolicy{
			Start: new(now.Add(-time.Hour)), Expiry: &expiry, Permission: &permission,
		}}
	}
	_, err := q.SetAccessPolicy(w.ctx, &azqueue.SetAccessPolicyOptions{QueueACL: []*azqueue.SignedIdentifier{
		policy("adders", "a", now.Add(time.Hour)), policy("past", "a", now.Add(-time.Minute)),
	}})
	must.Do(w.t, err)
	adder := w.signed(sas.QueueSignatureValues{Identifier: "adders"})
	must.Get(adder.EnqueueMessage(w.ctx, "x", nil))(t)
	_, err = adder.PeekMessage(w.ctx, nil)
	w.refused(err, http.StatusForbidden, queueerror.AuthorizationPermissionMismatch)
	for _, values := range []sas.QueueSignatureValues{
		{Identifier: "past"},
		{Identifier: "nobody"},
		{Identifier: "adders", Permissions: "a"}, // said twice
		{Identifier: "adders", ExpiryTime: soon()},
	} {
		_, err := w.signed(values).EnqueueMessage(w.ctx, "x", nil)
		w.refused(err, http.StatusForbidden, queueerror.AuthenticationFailed)
	}
	must.Get(q.SetAccessPolicy(w.ctx, &azqueue.SetAccessPolicyOptions{QueueACL: []*azqueue.SignedIdentifier{policy("adders", "r", now.Add(time.Hour))}}))(w.t)
	_, err = adder.EnqueueMessage(w.ctx, "x", nil)
	w.refused(err, http.StatusForbidden, queueerror.AuthorizationPermissionMismatch)
	must.Get(q.SetAccessPolicy(w.ctx, &azqueue.SetAccessPolicyOptions{QueueACL: []*azqueue.SignedIdentifier{}}))(w.t)
	_, err = adder.EnqueueMessage(w.ctx, "x", nil)
	w.refused(err, http.StatusForbidden, queueerror.AuthenticationFailed)
}

// TestStorageQueueSplitPolicy has half of the rights in the policy and half in the signature.
func TestStorageQueueSplitPolicy(t *testing.T) {
	w := newStorage(t)
	q := w.queue("orders")
	_, err := q.SetAccessPolicy(w.ctx, &azqueue.SetAccessPolicyOptions{QueueACL: []*azqueue.SignedIdentifier{
		{ID: new("half"), AccessPolicy: &azqueue.AccessPolicy{Permission: new("a")}},
	}})
	must.Do(w.t, err)
	_, err = w.signed(sas.QueueSignatureValues{Identifier: "half", ExpiryTime: soon()}).EnqueueMessage(w.ctx, "x", nil)
	if deviation(t, "a signature with a policy cannot have a time or permissions of its own", false, true) {
		w.refused(err, http.StatusForbidden, queueerror.AuthenticationFailed)
	} else {
		must.Do(w.t, err)
	}
}

func TestStorageQueueAccountSignature(t *testing.T) {
	w := newStorage(t)
	all := w.accountSigned("rwdlacup", "sco")
	_, err := all.CreateQueue(w.ctx, "orders", nil)
	must.Do(w.t, err)
	q := all.NewQueueClient("orders")
	put := w.put(q, "x", nil)
	w.takeOne(q, 60)
	must.Get(all.GetServiceProperties(w.ctx, nil))(w.t)
	must.Get(all.NewListQueuesPager(nil).NextPage(w.ctx))(w.t)
	must.Get(q.ClearMessages(w.ctx, nil))(w.t)
	_, err = q.GetAccessPolicy(w.ctx, nil)
	w.refused(err, http.StatusForbidden, queueerror.AuthorizationPermissionMismatch)

	list := func(s *azqueue.ServiceClient) error {
		_, err := s.NewListQueuesPager(nil).NextPage(w.ctx)
		return err
	}
	create := func(s *azqueue.ServiceClient) error {
		_, err := s.CreateQueue(w.ctx, "orders", nil)
		return err
	}
	add := func(s *azqueue.ServiceClient) error {
		_, err := s.NewQueueClient("orders").EnqueueMessage(w.ctx, "x", nil)
		return err
	}
	get := func(s *azqueue.ServiceClient) error {
		_, err := s.NewQueueClient("orders").DequeueMessage(w.ctx, nil)
		return err
	}
	for _, test := range []struct {
		permissions, types string
		call               func(*azqueue.ServiceClient) error
		code               queueerror.Code
	}{
		{"l", "s", list, ""},
		{"l", "co", list, queueerror.AuthorizationResourceTypeMismatch},
		{"r", "s", list, queueerror.AuthorizationPermissionMismatch},
		{"c", "c", create, ""},
		{"w", "c", create, ""},
		{"c", "so", create, queueerror.AuthorizationResourceTypeMismatch},
		{"r", "c", create, queueerror.AuthorizationPermissionMismatch},
		{"a", "o", add, ""},
		{"a", "sc", add, queueerror.AuthorizationResourceTypeMismatch},
		{"p", "o", add, queueerror.AuthorizationPermissionMismatch},
		{"p", "o", get, ""},
		{"a", "o", get, queueerror.AuthorizationPermissionMismatch},
	} {
		err := test.call(w.accountSigned(test.permissions, test.types))
		switch {
		case test.code != "":
			w.refused(err, http.StatusForbidden, test.code)
		case err != nil:
			t.Errorf("%s %s: %v", test.permissions, test.types, err)
		}
	}

	objects := w.accountSigned("pud", "o").NewQueueClient("orders")
	_, err = objects.DeleteMessage(w.ctx, *put.MessageID, *put.PopReceipt, nil)
	if deviation(t, "it takes deleting, updating and clearing messages for operations on the queue", false, true) {
		w.refused(err, http.StatusForbidden, queueerror.AuthorizationResourceTypeMismatch)
	} else {
		w.refused(err, http.StatusNotFound, queueerror.MessageNotFound)
	}

	// A signature for blobs only, which this SDK does not make.
	token := strings.Replace(w.accountSigned("l", "s").URL(), "ss=q", "ss=b", 1)
	wrong := must.Get(azqueue.NewServiceClientWithNoCredential(token, storageOptions()))(w.t)
	w.refused(list(wrong), http.StatusForbidden, queueerror.AuthenticationFailed)
}

// raw sends a request that is signed by hand; sign gets the date and returns the Authorization header.
func (w *storageWorld) raw(path string, date time.Time, sign func(date string) string) storageAnswer {
	w.t.Helper()
	r := must.Get(http.NewRequestWithContext(w.ctx, http.MethodGet, w.url+path, http.NoBody))(w.t)
	text := date.UTC().Format(http.TimeFormat)
	r.Header.Set("x-ms-date", text)
	r.Header.Set("x-ms-version", "2026-04-06")
	r.Header.Set("Authorization", sign(text))
	return w.plain(r)
}

func hmacBase64(t *testing.T, text string) string {
	t.Helper()
	key := must.Get(base64.StdEncoding.DecodeString(storagequeue.DefaultKey))(t)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestStorageQueueSharedKeyByHand(t *testing.T) {
	w := newStorage(t)
	const account = storagequeue.DefaultAccount
	full := func(date string) string {
		return "SharedKey " + account + ":" + hmacBase64(t, "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:"+date+"\nx-ms-version:2026-04-06\n/"+account+
			"/"+account+"\ncomp:list\nprefix:a b")
	}
	lite := func(date string) string {
		return "SharedKeyLite " + account + ":" + hmacBase64(t, "GET\n\n\n\nx-ms-date:"+date+"\nx-ms-version:2026-04-06\n/"+account+
			"/"+account+"?comp=list")
	}
	const path = "?prefix=a%20b&comp=list"
	for _, test := range []struct {
		name   string
		date   time.Time
		sign   func(string) string
		status int
		code   string
	}{
		{"SharedKey", time.Now(), full, 200, ""},
		{"SharedKeyLite", time.Now(), lite, 200, ""},
		{"within the skew", time.Now().Add(-14 * time.Minute), full, 200, ""},
		{"too old", time.Now().Add(-16 * time.Minute), full, 403, "AuthenticationFailed"},
		{"in the future", time.Now().Add(16 * time.Minute), lite, 403, "AuthenticationFailed"},
		{"another scheme", time.Now(), func(date string) string { return strings.Replace(full(date), "SharedKey", "Other", 1) }, 400, "InvalidAuthenticationInfo"},
		{"no signature", time.Now(), func(string) string { return "SharedKey " + account }, 400, "InvalidAuthenticationInfo"},
		{"another account", time.Now(), func(date string) string { return strings.Replace(full(date), account, "other", 1) }, 403, "AuthenticationFailed"},
	} {
		got := w.raw(path, test.date, test.sign)
		status, code := test.status, test.code
		switch test.name {
		case "too old", "in the future":
			status, code = deviation(t, "it takes requests of any time", status, 200), deviation(t, "it takes requests of any time", code, "")
		case "another scheme", "no signature":
			status, code = deviation(t, "it answers a malformed header as a wrong one", status, 403),
				deviation(t, "it answers a malformed header as a wrong one", code, "AuthenticationFailed")
		}
		if got.status != status || got.header.Get("x-ms-error-code") != code {
			t.Errorf("%s: got %d %s", test.name, got.status, got.header.Get("x-ms-error-code"))
		}
	}
}
