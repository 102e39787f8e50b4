package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// The headers of a signed request (Standard Webhooks 1.0), in canonical
// spelling.
const (
	headerWebhookID        = "Webhook-Id"
	headerWebhookTime      = "Webhook-Timestamp"
	headerWebhookSignature = "Webhook-Signature"
)

var webhookHeaders = []string{headerWebhookID, headerWebhookTime, headerWebhookSignature}

// The lengths in bytes of a signing key (Standard Webhooks, "Signature scheme").
const (
	minWebhookKey = 24
	maxWebhookKey = 64
	webhookPrefix = "whsec_"
)

// webhook are the secrets that requests are signed with: the present one and,
// while receivers change over, the previous one.
type webhook []document.Secret

// readWebhook reads request.webhook.
func (r *request) readWebhook(o *document.Object) {
	wo, ok := o.Object("webhook")
	if !ok {
		return
	}
	defer wo.Done()
	wo.Require("secret")
	for _, name := range []string{"secret", "previousSecret"} {
		s, ok := wo.Secret(name)
		if !ok {
			continue
		}
		if text, literal := s.Literal(); literal {
			if _, err := webhookKey(text); err != nil {
				wo.Problem(name, "%v", err)
			}
		}
		r.webhook = append(r.webhook, s)
	}
	for _, name := range webhookHeaders {
		if r.gives(name) {
			o.Problem("headers."+name, "clashes with webhook, which sets it")
		}
	}
}

// webhookKey decodes the key of a secret. Its error does not contain the secret.
func webhookKey(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, webhookPrefix)
	if !ok {
		return nil, errors.New("must be " + webhookPrefix + " and the key in base64")
	}
	key, err := base64.StdEncoding.DecodeString(text)
	switch {
	case err != nil:
		return nil, errors.New("is not base64 after " + webhookPrefix)
	case len(key) < minWebhookKey || len(key) > maxWebhookKey:
		return nil, fmt.Errorf("has a key of %d bytes, must be %d to %d", len(key), minWebhookKey, maxWebhookKey)
	}
	return key, nil
}

// keys returns the keys that an attempt is signed with.
func (w webhook) keys(at scheduler.Attempt) ([][]byte, error) {
	var keys [][]byte
	for _, s := range w {
		text, err := at.Reveal(s)
		if err != nil {
			return nil, unready(err)
		}
		at.Hide(strings.TrimPrefix(text, webhookPrefix))
		key, err := webhookKey(text)
		if err != nil {
			return nil, unready(fmt.Errorf("the secret of webhook %w", err))
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// sign sets the headers that prove that a request with that body comes from a
// holder of the keys.
func sign(h http.Header, at scheduler.Attempt, sent time.Time, body string, keys [][]byte) {
	timestamp := strconv.FormatInt(sent.Unix(), 10)
	signatures := make([]string, 0, len(keys))
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(at.Key + "." + timestamp + "." + body))
		signature := base64.StdEncoding.EncodeToString(mac.Sum(nil))
		at.Hide(signature)
		signatures = append(signatures, "v1,"+signature)
	}
	h[headerWebhookID] = []string{at.Key}
	h[headerWebhookTime] = []string{timestamp}
	h[headerWebhookSignature] = []string{strings.Join(signatures, " ")}
}
