package service

import (
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
)

// If returns the service for requests that are carried out only while a condition holds of the job, or collection, that
// they name. It is checked together with the change, so nobody comes in between. [scheduler.ErrPrecondition] says that it
// does not hold.
//
// It applies to Put, Patch, Enable, Disable, Turn, Delete and Trigger of a job, and to what changes a collection. A
// published spec that is repeated, and was carried out before, is not held to its condition again.
func (s *Service) If(when scheduler.Condition) *Service {
	if when.IsZero() {
		return s
	}
	held := *s
	held.Editor.when, held.Runner.when, held.CollectionKeeper.when = when, when, when
	return &held
}

// meets checks the condition of an edit of a job, nil for none.
func (e Editor) meets(k scheduler.Key, cur *scheduler.Job) error {
	return checkJob(e.when, k, cur)
}

func checkJob(when scheduler.Condition, k scheduler.Key, j *scheduler.Job) error {
	if when.IsZero() {
		return nil
	}
	etag := ""
	if j != nil {
		etag = j.ETag()
	}
	return when.Check("job "+k.String(), etag)
}

// meets checks whether a collection, nil for none, can be changed, and the condition of the change.
func (c CollectionKeeper) meets(name string, cur *scheduler.Collection) error {
	etag := ""
	if cur != nil {
		if err := cur.CheckKept(); err != nil {
			return err
		}
		etag = cur.ETag()
	}
	return c.when.Check("collection "+name, etag)
}

// noCollection is the error of a change of a collection that is not there.
func noCollection(name string) error {
	return fmt.Errorf("collection %s: %w", name, scheduler.ErrNotFound)
}
