package v1

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Request summarizes the request of one of a job's actions, as its document states it. It has no secrets.
type Request struct {
	Path  string // the path of the action, as in records: action.errorAction[1]
	Type  string
	Verb  string // the method of a request, or the mode of a message
	URI   string
	Place string // of a message: account and queue, namespace and queue or topic, or subject
}

// String returns the request on one line.
func (r Request) String() string { return joined(r.Type, r.Verb, r.URI, r.Place) }

// Shown returns the request without its type and without the values of the URI's query, because some are as sensitive
// as passwords.
func (r Request) Shown() string { return joined(r.Verb, r.ShownURI(), r.Place) }

// ShownURI returns the URI without the values of its query and without its fragment.
func (r Request) ShownURI() string { return veiledURI(r.URI) }

func joined(words ...string) string {
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// veiledURI returns a URI without the values of its query and without its fragment.
func veiledURI(uri string) string {
	uri, _, _ = strings.Cut(uri, "#")
	uri, query, found := strings.Cut(uri, "?")
	if !found {
		return uri
	}
	var names []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, valued := strings.Cut(pair, "=")
		if !valued { // it may be a bare value
			name = "…"
		} else {
			name += "=…"
		}
		names = append(names, name)
	}
	return uri + "?" + strings.Join(names, "&")
}

// Requests returns the requests of a job's actions: the main action, then the error actions in the order of the
// document.
func Requests(properties document.Value) []Request {
	action, _ := properties.Member("action")
	return appendRequests(nil, action, "action")
}

func appendRequests(all []Request, action document.Value, at string) []Request {
	all = append(all, requestOf(action, at))
	at += ".errorAction"
	next, ok := action.Member("errorAction")
	if ok && next.Kind() == document.KindObject {
		return appendRequests(all, next, at)
	}
	for i, one := range next.Items() {
		all = appendRequests(all, one, fmt.Sprintf("%s[%d]", at, i))
	}
	return all
}

// RequestOf returns the request of a record's action; false if the job has no such action.
func RequestOf(all []Request, r *scheduler.RecordForm) (Request, bool) {
	for i, one := range all {
		switch {
		case r.ActionPath != "" && r.ActionPath != one.Path,
			r.ActionPath == "" && (i > 0) != (r.Action == scheduler.ErrorPhase.ActionName()):
			continue
		}
		return one, true
	}
	return Request{}, false
}

// messageMembers are the fields of an action that hold its message; placeMembers are those of its destination.
var (
	messageMembers = []string{"request", "queueMessage", "serviceBusQueueMessage", "serviceBusTopicMessage", "natsMessage"}
	placeMembers   = []string{"storageAccount", "namespace", "queueName", "topicPath", "subject"}
)

func requestOf(action document.Value, at string) Request {
	text := func(v document.Value, name string) string {
		member, _ := v.Member(name)
		if member.Kind() != document.KindString || member.IsSecret() {
			return ""
		}
		return member.Text()
	}
	r := Request{Path: at, Type: text(action, "type")}
	for _, member := range messageMembers {
		of, _ := action.Member(member)
		r.Verb = joined(r.Verb, text(of, "method"), text(of, "mode"))
		r.URI += text(of, "uri")
		for _, part := range placeMembers {
			r.Place = joined(r.Place, text(of, part))
		}
	}
	return r
}
