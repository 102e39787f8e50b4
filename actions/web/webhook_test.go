package web_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/bubble"
	"github.com/carillon-sched/carillon/scheduler"
)

// The test vector of the Standard Webhooks libraries, and a second secret.
const (
	webhookSecret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	webhookPrevious = "whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo="
	webhookID       = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	webhookTime     = 1614265330
	webhookBody     = `{"test": 2432232314}`
	webhookSigned   = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

// signed runs an attempt at the vector's time and returns its headers.
func signed(t *testing.T, webhook string, secrets map[string]string) (headers []http.Header, result scheduler.Result) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		client := web.New(web.Config{Transport: tripper(func(req *http.Request) (*http.Response, error) {
			headers = append(headers, req.Header)
			if req.URL.Path == "/moved" {
				return &http.Response{StatusCode: http.StatusSeeOther, Header: http.Header{"Location": {"/"}}}, nil
			}
			return &http.Response{StatusCode: http.StatusOK}, nil
		})})
		time.Sleep(time.Until(time.Unix(webhookTime, 900_000_000)))
		at := shared(secrets)
		at.Key = webhookID
		path := "/"
		if secrets["moved"] != "" {
			path = "/moved"
		}
		request := fmt.Sprintf(`{"uri":"http://h%s","method":"POST","body":%q,"webhook":%s}`, path, webhookBody, webhook)
		result = mustRead(t, client, "Http", request).Invoke(t.Context(), at)
	})
	return headers, result
}

func TestWebhook(t *testing.T) {
	const previous = "v1,EQ9VtNndYSlPrWnoqCluBWAXZCnZYmQrQ628A2ecSBA="
	for name, test := range map[string]struct{ webhook, want string }{
		"literal":  {`{"secret":"` + webhookSecret + `"}`, webhookSigned},
		"by name":  {`{"secret":{"secretRef":"new"}}`, webhookSigned},
		"rotating": {`{"previousSecret":{"secretRef":"old"},"secret":{"secretRef":"new"}}`, webhookSigned + " " + previous},
	} {
		t.Run(name, func(t *testing.T) {
			headers, result := signed(t, test.webhook, map[string]string{"new": webhookSecret, "old": webhookPrevious})
			if result.Failed {
				t.Fatal(result.Message)
			}
			got := [3]string{headers[0].Get("webhook-id"), headers[0].Get("webhook-timestamp"), headers[0].Get("webhook-signature")}
			if diff := cmp.Diff([3]string{webhookID, strconv.Itoa(webhookTime), test.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWebhookRedirect checks that a request that lost its body is signed anew.
func TestWebhookRedirect(t *testing.T) {
	headers, result := signed(t, `{"secret":"`+webhookSecret+`"}`, map[string]string{"moved": "yes"})
	if result.Failed || len(headers) != 2 {
		t.Fatalf("%d requests: %+v", len(headers), result)
	}
	const empty = "v1,v48jdbgvh29KJz2Qc+ghw8G6vG3nAKnujWBg8oM/62A="
	if got := headers[1].Get("webhook-signature"); headers[0].Get("webhook-signature") != webhookSigned || got != empty {
		t.Errorf("got %s", got)
	}
}

func TestWebhookBadSecret(t *testing.T) {
	headers, result := signed(t, `{"secret":{"secretRef":"new"}}`, map[string]string{"new": "whsec_AAAA"})
	wantFailure(t, result, "h", "the secret of webhook has a key of 3 bytes, must be 24 to 64")
	if headers != nil {
		t.Errorf("%d requests", len(headers))
	}
}
