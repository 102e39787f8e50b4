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

// follow checks the jobs that start the job of a definition, that it starts, or that its condition asks: it refuses a
// cycle that cur, nil for a new job, did not have, and warns of missing jobs. Two edits at the same time can close a cycle
// nevertheless; [scheduler.MaxChain] ends it.
func (e Editor) follow(
	ctx context.Context, k scheduler.Key, cur *scheduler.Job, def *scheduler.Definition,
) (warnings []spec.Warning, err error) {
	links := slices.DeleteFunc(def.Links(k), func(l scheduler.Link) bool { return l.Job == (scheduler.Key{}) })
	named, found := []scheduler.Key{}, map[scheduler.Key][]byte{k: nil}
	for _, l := range links {
		named = append(named, l.Job)
	}
	if err := e.loadNew(ctx, found, named); err != nil {
		return nil, err
	}
	warn := func(l scheduler.Link, text string) {
		warnings = append(warnings, spec.Warning{Path: l.Path, Message: fmt.Sprintf("job %s %s", l.Job.Plain(), text)})
	}
	for _, l := range links {
		switch data := found[l.Job]; {
		case l.Job == k && l.Asks:
			warn(l, "is this job: it waits for its own end, and runs only after a manual run")
		case l.Job == k:
		case data == nil:
			warn(l, "does not exist yet")
		case l.Starts && scheduler.StoredOneShot(data):
			warn(l, "runs once and is then completed: give it a trigger, {}, so that others can start it")
		}
	}
	if !mayClose(k, cur, links) {
		return warnings, nil
	}
	upstream, err := e.upstream(ctx, k, links, found)
	if err != nil {
		return nil, err
	}
	return warnings, def.CheckCycle(k, upstream)
}

// mayClose reports whether links of the job k close a cycle that the links of cur have not closed.
func mayClose(k scheduler.Key, cur *scheduler.Job, links []scheduler.Link) bool {
	had := linksOf(k, cur)
	if had != nil && cur.Def.Trigger != nil && cur.Def.Trigger.MaxDepth > 0 { // it could be part of one
		had = nil
	}
	return slices.ContainsFunc(links, func(l scheduler.Link) bool { return !l.Asks && !l.In(had) })
}

// linksOf returns the links of the job k; none for nil and for a damaged job.
func linksOf(k scheduler.Key, j *scheduler.Job) []scheduler.Link {
	if j == nil || j.Def == nil {
		return nil
	}
	return j.Def.Links(k)
}

// loadNew adds the stored jobs of keys to found, unless it has them. A missing job has no data.
func (e Editor) loadNew(ctx context.Context, found map[scheduler.Key][]byte, keys []scheduler.Key) error {
	keys = slices.DeleteFunc(slices.Clone(keys), func(one scheduler.Key) bool {
		data, known := found[one]
		found[one] = data
		return known
	})
	return e.shared.eachOf(ctx, keys, func(st scheduler.Stored) { found[st.Key] = st.Data })
}

// mayLink checks the rights to link the job k to other collections as def does, as far as cur did not, nil for a new job:
// to read those whose events and jobs start it, and to run jobs in those where it starts them. A caller without the right
// does not learn whether they exist. Requests without a principal are not restricted.
func mayLink(ctx context.Context, k scheduler.Key, cur *scheduler.Job, def *scheduler.Definition) error {
	var problems document.Problems
	for _, l := range linksElsewhere(k, cur, def) {
		text := "the collection does not exist, or you may not read it: listening needs its role " + string(auth.Reader)
		right := auth.Read
		if l.Starts {
			text = "the collection does not exist, or you may not run its jobs: starting them needs its role " + string(auth.Operator)
			right = auth.Operate
		}
		if !may(ctx, right, l.Collection()) {
			problems = append(problems, document.Problem{Path: l.Path, Message: text})
		}
	}
	return scheduler.AsInvalid(problems)
}

// linksElsewhere returns the links of a definition of the job k to other collections that cur does not have.
func linksElsewhere(k scheduler.Key, cur *scheduler.Job, def *scheduler.Definition) []scheduler.Link {
	had := linksOf(k, cur)
	return slices.DeleteFunc(def.Links(k), func(l scheduler.Link) bool { return l.Collection() == k.Collection || l.In(had) })
}

// may reports whether the caller has a right to a collection. Requests without a principal are not restricted.
func may(ctx context.Context, right auth.Right, collection string) bool {
	p := auth.From(ctx)
	return p == nil || auth.May(p, right, collection)
}

// heardBy returns the links of a job; none for nil and for a damaged job.
func heardBy(j *scheduler.Job) scheduler.Heard {
	if j == nil || j.Def == nil {
		return scheduler.Heard{}
	}
	return j.Def.Hears(j.Key)
}

// upstream returns for the job k, which will have these links, and for the jobs that start it, directly or through others,
// which jobs start them. It adds these jobs to found. The registry has the jobs with onSuccess and onFailure, which their
// definitions confirm.
func (e Editor) upstream(
	ctx context.Context, k scheduler.Key, links []scheduler.Link, found map[scheduler.Key][]byte,
) (map[scheduler.Key][]scheduler.Key, error) {
	upstream, starters := map[scheduler.Key][]scheduler.Key{}, map[scheduler.Key][]scheduler.Key{}
	err := e.shared.eachHeard(ctx, func(of scheduler.Key, h scheduler.Heard) {
		for _, one := range h.Starts {
			starters[one] = append(starters[one], of)
		}
	})
	seen := map[scheduler.Key]bool{k: true}
	add := func(k scheduler.Key, links []scheduler.Link) []scheduler.Key {
		for _, l := range links {
			switch {
			case l.Starts:
				upstream[l.Job] = append(upstream[l.Job], k)
			case l.Job != (scheduler.Key{}) && !l.Asks:
				upstream[k] = append(upstream[k], l.Job)
			}
		}
		return slices.Concat(upstream[k], starters[k])
	}
	for level := add(k, links); err == nil && len(level) > 0; {
		var next []scheduler.Key
		err = e.loadNew(ctx, found, level)
		for _, one := range level {
			if !seen[one] {
				seen[one] = true
				next = append(next, add(one, scheduler.StoredLinks(found[one]).Links(one))...)
			}
		}
		level = next
	}
	return upstream, err
}
