package webhook

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// ownHeaders belong to the request, not to the event: headers of the connection (RFC 9110, section 7.6.1), of proxies and
// of traces.
var ownHeaders = map[string]bool{
	"connection": true, "proxy-connection": true, "keep-alive": true, "te": true, "trailer": true,
	"transfer-encoding": true, "upgrade": true, "host": true, "content-length": true, "content-encoding": true,
	"accept": true, "accept-encoding": true, "accept-language": true, "cookie2": true, "forwarded": true, "via": true, "expect": true,
	"origin": true, "referer": true, "webhook-signature": true, "traceparent": true, "tracestate": true, "baggage": true,
}

// Headers returns the headers of the event of a verified request, with its ID.
func Headers(s *source.Source, header http.Header, body []byte) map[string][]string {
	kept, v := map[string][]string{}, &s.Webhook.Verify
	for name, values := range header {
		lower := strings.ToLower(name)
		own := ownHeaders[lower] || document.IsCredential(name) || strings.EqualFold(name, v.Header)
		for _, prefix := range []string{"nats-", "carillon-", "x-forwarded-", "sec-", "proxy-"} {
			own = own || strings.HasPrefix(lower, prefix)
		}
		if !own {
			kept[lower] = values[:1]
		}
	}
	if id := identify(v.Scheme, header, body); id != "" {
		kept["Nats-Msg-Id"] = []string{id}
	}
	return kept
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
