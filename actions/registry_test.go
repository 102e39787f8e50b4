package actions_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// stand is an action that does nothing, and the reader of the types it names.
type stand []string

func (stand) Target() string { return "" }

func (stand) Invoke(context.Context, scheduler.Attempt) scheduler.Result { return scheduler.Result{} }

func (s stand) Types() []string { return s }

// ReadAction returns the kind it is asked for.
func (s stand) ReadAction(kind string, _ *document.Object) scheduler.Action { return stand{kind} }

func TestRegistry(t *testing.T) {
	g := actions.New(stand{"Https", "Http"}, stand{"StorageQueue"})
	if got, want := g.Types(), []string{"Http", "Https", "StorageQueue"}; !slices.Equal(got, want) {
		t.Errorf("types: got %v, want %v", got, want)
	}
	empty := document.NewReader().Object(document.ObjectValue(), "")
	for _, kind := range []string{"Http", "http", "HTTP", "storagequeue", "StorageQueue"} {
		action, ok := g.ReadAction(kind, empty).(stand)
		if !ok || !strings.EqualFold(action[0], kind) || !slices.Contains(g.Types(), action[0]) {
			t.Errorf("%s: got %v", kind, action)
		}
	}
	if action := g.ReadAction("Ftp", empty); action != nil {
		t.Errorf("Ftp: got %v, want nil", action)
	}
}

// TestRegistryMembers gives each type the members of all: its own is read, and each of the others is told whose it is.
func TestRegistryMembers(t *testing.T) {
	g := builtin.New(builtin.Config{})
	defer g.Close()
	owners := map[string]string{
		"request": "Http or Https", "queueMessage": "StorageQueue", "serviceBusQueueMessage": "ServiceBusQueue",
		"serviceBusTopicMessage": "ServiceBusTopic", "natsMessage": "NatsMessage",
	}
	for _, kind := range g.Types() {
		v := must.Get(document.Parse([]byte(`{"request":{},"QUEUEMESSAGE":{},"serviceBusQueueMessage":{},"serviceBusTopicMessage":{},"natsMessage":{}}`)))(t)
		r := document.NewReader()
		o := r.Object(v, "")
		if action := g.ReadAction(kind, o); action != nil {
			t.Errorf("%s: read", kind)
		}
		o.Done()
		got := "\n" + r.Err().Error() + "\n"
		for member, owner := range owners {
			problem := "\n" + member + ": belongs to type " + owner + ", not " + kind + "\n"
			if slices.Contains(strings.Split(owner, " or "), kind) {
				if !strings.Contains(got, "\n"+member+".") || strings.Contains(got, problem) {
					t.Errorf("%s: %s is not read: %s", kind, member, got)
				}
			} else if !strings.Contains(got, problem) {
				t.Errorf("%s: want %s, got %s", kind, problem, got)
			}
		}
	}
}

// closing counts how often it is closed.
type closing struct {
	stand

	times int
}

func (c *closing) Close() { c.times++ }

func TestRegistryCloses(t *testing.T) {
	c := &closing{stand: stand{"Http"}}
	g := actions.New(stand{"StorageQueue"}, c)
	g.Close()
	if c.times != 1 {
		t.Errorf("closed %d times", c.times)
	}
}

func TestRegistryTypesAreCopied(t *testing.T) {
	g := actions.New(stand{"Http"})
	g.Types()[0] = "changed"
	if got := g.Types()[0]; got != "Http" {
		t.Errorf("got %s", got)
	}
}

func TestRegistryTypeTwice(t *testing.T) {
	defer func() {
		want := "actions: action type HTTP is registered twice (as Http before)"
		if got := recover(); got != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}()
	actions.New(stand{"Http"}, stand{"HTTP"})
}
