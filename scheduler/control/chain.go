package control

import (
	"context"
	"fmt"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// follow checks the jobs that the definition of the job k follows: it refuses a cycle, and warns of missing jobs. Two
// edits at the same time can close a cycle nevertheless; [scheduler.MaxChain] ends it.
func (e Editor) follow(
	ctx context.Context, k scheduler.Key, def *scheduler.Definition,
) (warnings []spec.Warning, err error) {
	followed := def.Follows(k)
	if len(followed) == 0 {
		return nil, nil
	}
	upstream, err := e.upstream(ctx, k, def.Hears(k).Jobs)
	if err != nil {
		return nil, err
	}
	for _, f := range followed {
		if _, ok := upstream[f.Job]; !ok && f.Job != k {
			text := fmt.Sprintf("has no effect yet: job %s does not exist", f.Job.Plain())
			warnings = append(warnings, spec.Warning{Path: f.Path, Message: text})
		}
	}
	return warnings, def.CheckCycle(k, upstream)
}

// mayHear checks that the caller may read the collections whose events and jobs def listens to, as far as cur did not, nil
// for a new job. A caller without the right does not learn whether they exist. Requests without a principal are not
// restricted.
func mayHear(ctx context.Context, k scheduler.Key, cur *scheduler.Job, def *scheduler.Definition) error {
	var problems document.Problems
	for _, f := range def.ListensElsewhere(k, heardBy(cur)) {
		if !mayRead(ctx, f.Collection) {
			problems = append(problems, document.Problem{
				Path:    f.Path,
				Message: "the collection does not exist, or you may not read it: listening needs its role " + string(auth.Reader),
			})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return scheduler.AsInvalid(problems)
}

// mayRead reports whether the caller may read a collection. Requests without a principal are not restricted.
func mayRead(ctx context.Context, collection string) bool {
	p := auth.From(ctx)
	return p == nil || auth.May(p, auth.Read, collection)
}

// heardBy returns what a job listens to; nothing for nil and for a damaged job.
func heardBy(j *scheduler.Job) scheduler.Heard {
	if j == nil || j.Def == nil {
		return scheduler.Heard{}
	}
	return j.Def.Hears(j.Key)
}

// upstream returns the existing jobs that start the job k, directly or through others, with the jobs that they follow.
// first are the jobs that k follows.
func (e Editor) upstream(
	ctx context.Context, k scheduler.Key, first []scheduler.Key,
) (map[scheduler.Key][]scheduler.Key, error) {
	found, asked := map[scheduler.Key][]scheduler.Key{}, map[scheduler.Key]bool{k: true}
	for level := first; len(level) > 0; {
		var next, ask []scheduler.Key
		for _, one := range level {
			if !asked[one] {
				asked[one], ask = true, append(ask, one)
			}
		}
		for batch := range slices.Chunk(ask, batchKeys) {
			err := e.shared.Store.LoadJobs(ctx, batch, func(st scheduler.Stored) {
				found[st.Key] = scheduler.StoredHears(st.Key, st.Data).Jobs
				next = append(next, found[st.Key]...)
			})
			if err != nil {
				return nil, err
			}
		}
		level = next
	}
	return found, nil
}
