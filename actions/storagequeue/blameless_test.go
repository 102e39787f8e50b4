package storagequeue_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/actions/storagequeue"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestBlameless tells failures that say nothing about the account from those that do.
func TestBlameless(t *testing.T) {
	answers := func(status int, err error) *storagequeue.Client {
		return serve(t, func(*http.Request) (*http.Response, error) {
			if err != nil {
				return nil, err
			}
			return reply{status, nil, ""}.response(), nil
		})
	}
	busy := answers(http.StatusServiceUnavailable, nil)
	broken := newClient(t, storagequeue.Config{Endpoints: egress.Endpoints{Default: "http://{name}.invalid:1"}})
	guarded := newClient(t, storagequeue.Config{Guard: egress.NewGuard()})
	for name, test := range map[string]struct {
		client  *storagequeue.Client
		changes members
		want    bool
	}{
		"refused address": {guarded, members{"storageAccount": "http://127.0.0.1:1/abc"}, true},
		"no secret":       {busy, members{"sasToken": members{"secretRef": "none"}}, true},
		"not implemented": {answers(http.StatusNotImplemented, nil), nil, true},
		"busy":            {busy, nil, false},
		"server error":    {answers(http.StatusInternalServerError, nil), nil, false},
		"timeout":         {answers(http.StatusRequestTimeout, nil), nil, false},
		"no connection":   {answers(0, errors.New("broken")), nil, false},
		"no such host":    {broken, nil, false},
	} {
		result := mustRead(t, test.client, job(test.changes)).Invoke(t.Context(), attempt())
		if !result.Failed || result.Blameless != test.want {
			t.Errorf("%s: want %t, got %+v", name, test.want, result)
		}
	}
	at := attempt() // whose template makes a character that cannot be sent
	at.Phase, at.Failure = scheduler.ErrorPhase, &scheduler.Failure{Message: "\x01"}
	result := mustRead(t, busy, job(members{"template": true, "message": "{{.Failure}}"})).Invoke(t.Context(), at)
	if !result.Failed || !result.Blameless {
		t.Errorf("a template: got %+v", result)
	}
}
