package worker_test

import (
	"context"
	"net/http"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// lockedReader reads actions of the type Locked: a target that wants a secret,
//
//	{"type": "Locked", "door": {"key": "…", "spare": "…", "name": "…"}}
//
// of which only spare need not be given. It shows every attempt, as a call to
// the URL "name key spare", and answers with what it was given, as a careless
// target does.
type lockedReader struct{ sink *sink }

func (r lockedReader) Types() []string { return []string{"Locked"} }

func (r lockedReader) ReadAction(_ string, o *document.Object) scheduler.Action {
	if !o.Require("door") {
		return nil
	}
	door, ok := o.Object("door")
	if !ok {
		return nil
	}
	defer door.Done()
	a := &lockedAction{sink: r.sink}
	door.Require("key")
	a.key, _ = door.Secret("key")
	a.spare, _ = door.Secret("spare")
	a.name, _ = door.String("name")
	return a
}

type lockedAction struct {
	sink       *sink
	key, spare document.Secret
	name       string
}

func (a *lockedAction) Target() string { return "door" }

func (a *lockedAction) Invoke(_ context.Context, attempt scheduler.Attempt) scheduler.Result {
	key, err := attempt.Reveal(a.key)
	if err != nil {
		return scheduler.Result{Failed: true, Message: err.Error()}
	}
	spare, err := attempt.Reveal(a.spare)
	if err != nil {
		return scheduler.Result{Failed: true, Message: err.Error()}
	}
	status, body := a.sink.note(&call{url: a.name + " " + key + " " + spare, key: attempt.Key})
	return scheduler.Result{
		Failed: status != http.StatusOK, Status: status, Message: "Locked Action - the door said: you said " + key + body,
		Response: "you said " + key + body,
	}
}
