package main

import (
	"encoding/json"

	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// requestsOf are what all actions of a job ask for.
func requestsOf(properties json.RawMessage) []view.Request {
	v, err := document.Parse(properties)
	if err != nil {
		return nil // it was read before
	}
	return view.Requests(v)
}

// requestOf is what a record's action asks for, in one line; "" when the job has
// no such action.
func requestOf(properties json.RawMessage, r *client.Record) string {
	one, _ := view.RequestOf(requestsOf(properties), &r.RecordForm)
	return one.String()
}
