package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// call is what an action of a job asks for.
type call struct {
	at   string // where the action stands, as records have it: action.errorAction[1]
	text string // its type, and the address of its request or message
}

// requestsOf are those of all actions of a job: the main action, and the
// errorActions as they follow in the document.
func requestsOf(properties json.RawMessage) []call {
	v, err := document.Parse(properties)
	if err != nil {
		return nil // it was read before
	}
	action, _ := v.Member("action")
	return appendRequests(nil, action, "action")
}

func appendRequests(all []call, action document.Value, at string) []call {
	all = append(all, call{at, describeRequest(action)})
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

// requestOf is what a record's action asks for, in one line; "" when the job has
// no such action.
func requestOf(properties json.RawMessage, r *client.Record) string {
	for i, one := range requestsOf(properties) {
		switch {
		case r.ActionPath != "" && r.ActionPath != one.at, r.ActionPath == "" && (i > 0) != (r.Action == "ErrorAction"):
			continue
		}
		return one.text
	}
	return ""
}

// describeRequest is what an action asks for, in one line.
func describeRequest(action document.Value) string {
	text := func(v document.Value, name string) string {
		member, _ := v.Member(name)
		if member.Kind() != document.KindString {
			return ""
		}
		return member.Text()
	}
	words := []string{text(action, "type")}
	for _, member := range []string{"request", "queueMessage", "serviceBusQueueMessage", "serviceBusTopicMessage", "natsMessage"} {
		of, _ := action.Member(member)
		for _, part := range []string{"method", "uri", "storageAccount", "namespace", "queueName", "topicPath", "mode", "subject"} {
			words = append(words, text(of, part))
		}
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}
