package scheduler_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/cache"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// targeting notes whether actions are read whole.
type targeting struct {
	*actions.Registry

	whole *bool
}

func (r targeting) ReadAction(kind string, o *document.Object) scheduler.Action {
	*r.whole = true
	return r.Registry.ReadAction(kind, o)
}

// TestOutlineIsOfTheJob shows that the outline of a stored job says the same whether it is made of a few of its bytes or of
// the whole job, and that no action is read for it but one that names NATS servers.
func TestOutlineIsOfTheJob(t *testing.T) {
	var whole bool
	registry := builtin.New(builtin.Config{})
	t.Cleanup(registry.Close)
	reader := targeting{registry, &whole}
	read := func(data []byte) scheduler.Outline {
		t.Helper()
		whole = false
		var o scheduler.Outliner
		one, err := o.Read(&cache.Definitions{}, scheduler.Stored{Key: key, Revision: 7, Data: data}, reader, plainSealer{})
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	seen := map[string]bool{}
	for name, data := range storedCorpus(t, registry) {
		got, quick := read(data), !whole
		j, err := scheduler.ReadJob(key, 7, data, registry, plainSealer{})
		if err != nil {
			t.Fatal(err)
		}
		seen[j.Def.Action.Type] = true
		if reads := strings.Contains(string(data), `"servers":`); quick == reads {
			t.Errorf("%s: an action %s is read whole: %t", name, j.Def.Action.Type, !quick)
		}
		want := read(formless(data))
		if at := difference(reflect.ValueOf(got), reflect.ValueOf(want)); at != "" {
			t.Errorf("%s: %s differs:\n got %+v\nwant %+v", name, at, got, want)
		}
		outlined, err := got.Job()
		if err != nil {
			t.Fatal(err)
		}
		if target := j.Def.Action.Run.Target(); outlined.Def.Action.Run.Target() != target || outlined.Def.Jitter != j.Def.Jitter {
			t.Errorf("%s: %+v, not %+v", name, outlined.Def, j.Def)
		}
		if outlined.Def.ScheduleText() != j.Def.ScheduleText() || outlined.State != j.State || !outlined.Anchor.Equal(j.Anchor) {
			t.Errorf("%s: %+v, not %+v", name, outlined, j)
		}
	}
	for _, kind := range registry.Types() {
		if !seen[kind] {
			t.Errorf("no job of the corpus is of type %s", kind)
		}
	}
}
