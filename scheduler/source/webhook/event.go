package webhook

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// Headers returns the headers of the event of a verified request, with its ID.
func Headers(s *source.Source, header http.Header, body []byte) map[string][]string {
	kept, v := map[string][]string{}, &s.Webhook.Verify
	for name, values := range header {
		if describes(name) && !strings.EqualFold(name, v.Header) {
			kept[strings.ToLower(name)] = values[:1]
		}
	}
	if id := identify(v.Scheme, header, body); id != "" {
		kept["Nats-Msg-Id"] = []string{id}
	}
	return kept
}

// private are parts of the names of headers that belong to the request, not to the event: proxies add the identity of the
// sender, and signatures and tokens verify it.
var private = []string{
	"jwt", "assertion", "oidc", "principal", "forwarded", "real-ip", "client-ip", "remote-", "authenticated", "authorization",
	"auth-request", "token", "secret", "signature", "hmac",
}

// describes reports whether a header describes the event.
func describes(name string) bool {
	lower := strings.ToLower(name)
	switch {
	case document.IsCredential(name), slices.ContainsFunc(private, func(part string) bool { return strings.Contains(lower, part) }):
		return false
	case lower == "content-type", lower == "content-encoding", lower == "user-agent":
		return true
	}
	return strings.HasPrefix(lower, "x-") || strings.HasPrefix(lower, "ce-")
}

// maxID is the maximum length of an ID in bytes. A longer one does not recognize duplicates.
const maxID = 256

// identify returns the sender's ID of an event; "" for none.
func identify(scheme source.Scheme, header http.Header, body []byte) (id string) {
	switch scheme {
	case source.Standard:
		id = header.Get("Webhook-Id")
	case source.GitHub:
		id = header.Get("X-Github-Delivery")
	case source.Stripe:
		var event struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(body, &event)
		id = event.ID
	case source.HMAC, source.Basic, source.Token, source.None:
		id = header.Get("Ce-Id")
	}
	if len(id) > maxID || strings.ContainsAny(id, "\r\n") {
		return ""
	}
	return id
}
