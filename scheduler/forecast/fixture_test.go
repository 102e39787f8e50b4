package forecast_test

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// target is the only action of these jobs: nothing runs it.
type target string

func (t target) Target() string { return string(t) }

func (target) Invoke(context.Context, scheduler.Attempt) scheduler.Result {
	panic("a forecast ran an action")
}

type targets struct{}

func (targets) Types() []string { return []string{"None"} }

func (targets) ReadAction(_ string, o *document.Object) scheduler.Action {
	name, _ := o.String("target")
	return target(name)
}

// named is a job that was put at a time.
func named(tb testing.TB, name string, put time.Time, to, members string) *scheduler.Job {
	tb.Helper()
	k := scheduler.Key{Collection: "default", Job: name}
	v, err := document.Parse([]byte(`{"action": {"type": "None", "target": "` + to + `"}, ` + members + `}`))
	if err != nil {
		tb.Fatalf("%s: %v", members, err)
	}
	uid := "uid-of-" + name
	reading := scheduler.DefinitionDecoder{Actions: targets{}, Key: k, UID: uid, Now: put}
	def, err := reading.Definition(v)
	if err != nil {
		tb.Fatalf("%s: %v", members, err)
	}
	j, err := scheduler.NewJob(k, uid, def, put, 0)
	if err != nil {
		tb.Fatalf("%s: %v", members, err)
	}
	return j
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}
