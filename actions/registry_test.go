package actions_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions"
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
	for _, kind := range []string{"Http", "http", "HTTP", "storagequeue", "StorageQueue"} {
		action, ok := g.ReadAction(kind, nil).(stand)
		if !ok || !strings.EqualFold(action[0], kind) || !slices.Contains(g.Types(), action[0]) {
			t.Errorf("%s: got %v", kind, action)
		}
	}
	if action := g.ReadAction("Ftp", nil); action != nil {
		t.Errorf("Ftp: got %v, want nil", action)
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
