package rest

import (
	"net/http"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// publishEvent stores the body as an event, with the headers that describe it.
func (a *server) publishEvent(w http.ResponseWriter, r *http.Request) error {
	body, err := readContent(w, r, scheduler.MaxEventSize)
	if err != nil {
		return err
	}
	topic := scheduler.Topic{Collection: r.PathValue("c"), Name: r.PathValue("e")}
	v, err := a.Service.PublishEvent(lasting(r), topic, eventHeaders(r.Header), body)
	if err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, v)
}

// eventHeaders returns the headers of an event, with one value each. Others, such as a token, belong to the request.
func eventHeaders(all http.Header) map[string][]string {
	kept := map[string][]string{}
	for name, values := range all {
		switch lower := strings.ToLower(name); {
		case strings.HasPrefix(lower, "ce-"), lower == "content-type":
			kept[lower] = values[:1]
		case lower == "nats-msg-id":
			kept["Nats-Msg-Id"] = values[:1]
		}
	}
	return kept
}
