package scheduler

import "github.com/carillon-sched/carillon/scheduler/internal/plainjson"

// Fields that batons and records share, in the order of the struct fields.

func (p *Progress) codeProgress(c *plainjson.Codec) {
	c.OptInt("number", &p.Number)
	c.OptInt("runs", &p.Runs)
	c.OptInt("executions", &p.Executions)
	c.OptInt("failures", &p.Failures)
	c.OptInt("errors", &p.Errors)
	c.OptInt("errorFails", &p.ErrorFails)
	c.OptInt("faults", &p.Faults)
	c.OptTime("last", &p.Last)
	c.OptTime("seen", &p.Seen)
	c.OptTime("base", &p.Base)
	c.OptTime("ran", &p.Ran)
	c.OptTime("prior", &p.Prior)
	c.OptTrue("gaveUp", &p.GaveUp)
	c.OptInts("merged", &p.Merged)
}

// codeFailure codes the field failed.
func codeFailure(c *plainjson.Codec, failed **Failure) {
	if !c.Begin("failed", *failed != nil) {
		return
	}
	f := made(failed)
	c.OptInt("status", &f.Status)
	c.Int("attempts", &f.Attempts)
	c.Text("message", &f.Message)
	c.OptText("summary", &f.Summary)
	c.OptTime("due", &f.Due)
	c.OptTime("started", &f.Started)
	c.OptTime("ended", &f.Ended)
	c.End()
}

// codeResubmission codes the field resubmits.
func codeResubmission(c *plainjson.Codec, resubmits **Resubmission) {
	if !c.Begin("resubmits", *resubmits != nil) {
		return
	}
	r := made(resubmits)
	c.Time("nominal", &r.Nominal)
	c.OptTime("previous", &r.Previous)
	c.End()
}

// made returns what p points to, allocating it if nil.
func made[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}
