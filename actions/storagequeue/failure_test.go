package storagequeue_test

import (
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/sas"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	emulator "github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

const response = "StorageQueue Action - Response from account 'myaccount': "

func TestQueueNotFound(t *testing.T) {
	w := newHarness(t, emulator.Config{})
	result := w.post(members{})
	wantFailure(t, result, 404, true, response+"'QueueNotFound' (status 404) The specified queue does not exist. RequestId:*"+
		" Hint: create queue 'myqueue', or correct queueName: jobs do not create queues.")
	if !strings.Contains(result.Response, "<Code>QueueNotFound</Code>") {
		t.Errorf("response %s", result.Response)
	}
}

// TestUnauthorized has tokens that the emulator refuses.
func TestUnauthorized(t *testing.T) {
	w := newHarness(t, emulator.Config{AutoCreate: true})
	past := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	future := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	good := w.sign(nil)
	for _, test := range []struct {
		token, want string
		status      int
	}{
		{"TOKEN", "'*' (status *) * Hint: sasToken is not a shared access signature, as it has no sig.", 0},
		{w.sign(func(v *sas.QueueSignatureValues) { v.Protocol = sas.ProtocolHTTPS }), "'AuthorizationProtocolMismatch' (status 403) *" +
			" Hint: sasToken is signed for https alone (spr=https): sign it for https and http, or use an https endpoint.", 403},
		{w.sign(func(v *sas.QueueSignatureValues) { v.ExpiryTime = past }), "'AuthenticationFailed' (status 403) *" +
			" Hint: sasToken expired at " + past.Format(time.RFC3339) + ".", 403},
		{w.sign(func(v *sas.QueueSignatureValues) { v.StartTime, v.ExpiryTime = future, future.Add(time.Hour) }), "'AuthenticationFailed' (status 403) *" +
			" Hint: sasToken is not valid before " + future.Format(time.RFC3339) + ".", 403},
		{strings.Replace(good, "sig=", "sig=AA", 1), "'AuthenticationFailed' (status 403) *" +
			" Hint: sasToken may be signed with an old key, for another account or for another queue.", 403},
		{w.sign(func(v *sas.QueueSignatureValues) { v.QueueName = "other" }), "'AuthenticationFailed' (status 403) *" +
			" Hint: sasToken may be signed with an old key, for another account or for another queue.", 403},
	} {
		at := attempt()
		at.Shared = func(string) (string, error) { return test.token, nil }
		result := mustRead(t, w.actions, job(members{"sasToken": members{"secretRef": "token"}})).Invoke(t.Context(), at)
		if !matches(result.Message, response+test.want) || !result.Failed || !result.Final || test.status != 0 && result.Status != test.status {
			t.Errorf("got  %+v\nwant %s", result, test.want)
		}
		noSecret(t, result, test.token)
	}
}

// matches compares a text with a pattern in which a * stands for anything.
func matches(text, pattern string) bool {
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1:] {
		_, after, ok := strings.Cut(text, part)
		if !ok {
			return false
		}
		text = after
	}
	return text == "" || strings.HasSuffix(pattern, "*")
}

// noSecret looks for a token and its signature in a result.
func noSecret(t *testing.T, result scheduler.Result, token string) {
	t.Helper()
	values := must.Get(url.ParseQuery(token))(t)
	for _, secret := range []string{token, values.Get("sig"), url.QueryEscape(values.Get("sig"))} {
		if secret != "" && strings.Contains(result.Message+result.Response, secret) {
			t.Errorf("%q is in %+v", secret, result)
		}
	}
}

// reply is an answer of a service.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) response() *http.Response {
	header := r.header
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: r.status, Header: header, Body: io.NopCloser(strings.NewReader(r.body))}
}

// refusal is an answer with a code, as the service writes it.
func refusal(status int, code, details string) reply {
	return reply{status, http.Header{"X-Ms-Error-Code": {code}}, "\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>" + code +
		"</Code><Message>No.\nRequestId:1\nTime:2</Message>" + details + "</Error>"}
}

// TestRefusals has the answers that the emulator does not give.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		reply reply
		final bool
		want  string
	}{
		{
			refusal(403, "AuthenticationFailed", "<AuthenticationErrorDetail>Signature did not match.</AuthenticationErrorDetail>"), true,
			"'AuthenticationFailed' (status 403) No. RequestId:1 Time:2 AuthenticationErrorDetail: Signature did not match." +
				" Hint: sasToken is not a shared access signature, as it has no sig.",
		},
		{refusal(403, "AuthorizationPermissionMismatch", ""), true, "'AuthorizationPermissionMismatch' (status 403) No. RequestId:1 Time:2" +
			" Hint: sasToken does not permit adding messages: sign it with permission a."},
		{refusal(403, "AuthorizationFailure", ""), true, "'AuthorizationFailure' (status 403) No. RequestId:1 Time:2" +
			" Hint: the account's network rules may not let the scheduler in."},
		{refusal(400, "AccountRequiresHttps", ""), true, "'AccountRequiresHttps' (status 400) No. RequestId:1 Time:2" +
			" Hint: the account takes no http: use its https endpoint."},
		{
			refusal(400, "InvalidHeaderValue", "<HeaderName>x-ms-version</HeaderName>"), true,
			"'InvalidHeaderValue' (status 400) No. RequestId:1 Time:2 HeaderName: x-ms-version" +
				" Hint: the service may be too old for this version of its interface; Azurite takes it with --skipApiVersionCheck.",
		},
		{refusal(409, "QueueBeingDeleted", ""), false, "'QueueBeingDeleted' (status 409) No. RequestId:1 Time:2"},
		{refusal(409, "QueueDisabled", ""), false, "'QueueDisabled' (status 409) No. RequestId:1 Time:2" +
			" Hint: the administrator of the account has disabled the queue."},
		{refusal(413, "RequestBodyTooLarge", ""), true, "'RequestBodyTooLarge' (status 413) No. RequestId:1 Time:2"},
		{refusal(429, "TooManyRequests", ""), false, "'TooManyRequests' (status 429) No. RequestId:1 Time:2"},
		{refusal(500, "OperationTimedOut", ""), false, "'OperationTimedOut' (status 500) No. RequestId:1 Time:2"},
		{refusal(503, "ServerBusy", ""), false, "'ServerBusy' (status 503) No. RequestId:1 Time:2"},
		{reply{503, nil, "<Error><Code>FromBody</Code></Error>"}, false, "'FromBody' (status 503)"},
		{reply{404, nil, "<html>nothing here"}, true, "'Not Found' (status 404)"},
		{reply{502, nil, ""}, false, "'Bad Gateway' (status 502)"},
		{
			reply{302, http.Header{"Location": {"http://127.0.0.1/"}}, ""},
			false,
			"'Found' (status 302) Hint: redirects are not followed: give the address of the queue service as storageAccount.",
		},
		{reply{200, nil, ""}, false, "'OK' (status 200)"},
		{reply{201, nil, "<html>made"}, false, "'Created' (status 201) is not the answer of a queue"},
		{reply{201, nil, "<QueueMessagesList></QueueMessagesList>"}, false, "'Created' (status 201) is not the answer of a queue"},
		{reply{201, nil, ""}, false, "'Created' (status 201) is not the answer of a queue"},
	} {
		client := serve(t, func(*http.Request) (*http.Response, error) { return test.reply.response(), nil })
		result := actiontest.Invoke(t.Context(), mustRead(t, client, job(nil)), attempt())
		wantFailure(t, result, test.reply.status, test.final, response+test.want)
	}
}

// TestOnce counts requests: the SDK must not retry.
func TestOnce(t *testing.T) {
	for name, answer := range map[string]func() (*http.Response, error){
		"busy":  func() (*http.Response, error) { return refusal(503, "ServerBusy", "").response(), nil },
		"reset": func() (*http.Response, error) { return nil, &net.OpError{Op: "read", Err: syscall.ECONNRESET} },
	} {
		n := 0
		client := serve(t, func(*http.Request) (*http.Response, error) { n++; return answer() })
		actiontest.Invoke(t.Context(), mustRead(t, client, job(nil)), attempt())
		if n != 1 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// TestNetwork has errors of the network. None of them may show the request's URL, which has the token.
func TestNetwork(t *testing.T) {
	const failed = "StorageQueue Action - Request to account 'myaccount' at 'myaccount.queue.core.windows.net' failed: "
	for _, test := range []struct {
		err  error
		want string
	}{
		{
			&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}},
			"name not found: h. Hint: there may be no account of that name.",
		},
		{&url.Error{Op: "Post", URL: "https://x/?sig=TOKEN", Err: errors.New("no")}, "no"},
		{errors.New(strings.Repeat("é", 200)), strings.Repeat("é", 128)},
	} {
		client := serve(t, func(*http.Request) (*http.Response, error) { return nil, test.err })
		wantFailure(t, actiontest.Invoke(t.Context(), mustRead(t, client, job(nil)), attempt()), 0, false, failed+test.want)
	}
}

// listen starts a server that stands in for a service, and returns the members for it.
func listen(t *testing.T, handler http.HandlerFunc) members {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return job(members{"storageAccount": server.URL + "/myaccount"})
}

// TestHungServer checks on real sockets that an attempt ends at its deadline and takes the request with it: before the
// answer, and within it. A refusal tells as much as came, and what was created is in the queue.
func TestHungServer(t *testing.T) {
	for _, test := range []struct {
		status        int
		failed, final bool
		want          string
	}{
		{0, true, false, "Request to account 'myaccount' at '*' failed: timed out after 50ms"},
		{404, true, true, "Response from account 'myaccount': 'Not Found' (status 404)"},
		{201, false, false, "Message put into queue 'myqueue' of account 'myaccount' (the answer broke off: timed out after 50ms)"},
	} {
		gone := make(chan struct{})
		m := listen(t, func(w http.ResponseWriter, r *http.Request) {
			if test.status != 0 {
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, "<Error>")
				_ = http.NewResponseController(w).Flush()
			}
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			close(gone)
		})
		at := attempt()
		at.Timeout = 50 * time.Millisecond
		result := actiontest.Invoke(t.Context(), mustRead(t, newClient(t, storagequeue.Config{}), m), at)
		if result.Failed != test.failed || result.Final != test.final || result.Status != test.status || !matches(result.Message, "StorageQueue Action - "+test.want) {
			t.Errorf("got %+v\nwant %s", result, test.want)
		}
		<-gone
	}
}

// TestEndlessAnswer has an answer that does not end.
func TestEndlessAnswer(t *testing.T) {
	m := listen(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		for text := strings.Repeat("é", 4096); r.Context().Err() == nil; {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
	})
	result := actiontest.Invoke(t.Context(), mustRead(t, newClient(t, storagequeue.Config{}), m), attempt())
	wantFailure(t, result, 503, false, "StorageQueue Action - Response from account 'myaccount': 'Service Unavailable' (status 503)")
	if len(result.Response) != scheduler.MaxResponse {
		t.Errorf("response of %d bytes", len(result.Response))
	}
}

// TestSwitchingProtocols has an answer that hands over the connection, which nothing but closing it would end.
func TestSwitchingProtocols(t *testing.T) {
	m := listen(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	})
	wantFailure(t, actiontest.Invoke(t.Context(), mustRead(t, newClient(t, storagequeue.Config{}), m), attempt()), 101, false,
		"StorageQueue Action - Response from account 'myaccount': 'Switching Protocols' (status 101)")
}

// TestSecret has secrets that are not what they should be. Nothing is sent.
func TestSecret(t *testing.T) {
	client := serve(t, func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, io.EOF
	})
	action := mustRead(t, client, job(members{"sasToken": members{"secretRef": "queue"}}))
	const nothing = "StorageQueue Action - Nothing sent to queue 'myqueue' of account 'myaccount': "
	at := attempt()
	at.Shared = func(string) (string, error) { return emulator.DefaultKey, nil }
	result := actiontest.Invoke(t.Context(), action, at)
	wantFailure(t, result, 0, true, nothing+"sasToken is the key of the account, which may do everything: "+
		"make a shared access signature with it that may add messages, and write that")
	if strings.Contains(result.Message, emulator.DefaultKey) {
		t.Error("the key is in the result")
	}
	at.Shared = func(string) (string, error) { return base64.StdEncoding.EncodeToString([]byte("x")) + "\x7f", nil }
	wantFailure(t, actiontest.Invoke(t.Context(), action, at), 0, true, nothing+"sasToken has a space, a quote or another character that no query string has")
}
