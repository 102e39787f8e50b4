package scheduler

import "github.com/carillon-sched/carillon/scheduler/internal/plainjson"

// The members of what is part of a baton and of a record, written and read in the
// order of the fields.

func (p *Progress) writeProgress(w *plainjson.Writer) {
	w.OptInt("number", p.Number)
	w.OptInt("runs", p.Runs)
	w.OptInt("executions", p.Executions)
	w.OptInt("failures", p.Failures)
	w.OptInt("errors", p.Errors)
	w.OptInt("errorFails", p.ErrorFails)
	w.OptInt("faults", p.Faults)
	w.OptTime("last", p.Last)
	w.OptTime("seen", p.Seen)
	w.OptTime("base", p.Base)
	w.OptTime("ran", p.Ran)
	w.OptTime("prior", p.Prior)
	w.OptTrue("gaveUp", p.GaveUp)
	w.OptInts("merged", p.Merged)
}

func (p *Progress) readProgress(r *plainjson.Reader) {
	r.Int("number", &p.Number)
	r.Int("runs", &p.Runs)
	r.Int("executions", &p.Executions)
	r.Int("failures", &p.Failures)
	r.Int("errors", &p.Errors)
	r.Int("errorFails", &p.ErrorFails)
	r.Int("faults", &p.Faults)
	r.Time("last", &p.Last)
	r.Time("seen", &p.Seen)
	r.Time("base", &p.Base)
	r.Time("ran", &p.Ran)
	r.Time("prior", &p.Prior)
	r.True("gaveUp", &p.GaveUp)
	r.Ints("merged", &p.Merged)
}

// write writes the member failed, if there is a failure.
func (f *Failure) write(w *plainjson.Writer) {
	if f == nil {
		return
	}
	w.Begin("failed")
	w.OptInt("status", f.Status)
	w.Int("attempts", f.Attempts)
	w.Text("message", f.Message)
	w.OptText("summary", f.Summary)
	w.OptTime("due", f.Due)
	w.OptTime("started", f.Started)
	w.OptTime("ended", f.Ended)
	w.End()
}

func readFailure(r *plainjson.Reader) *Failure {
	if !r.Begin("failed") {
		return nil
	}
	f := &Failure{}
	r.Int("status", &f.Status)
	r.Int("attempts", &f.Attempts)
	r.Text("message", &f.Message)
	r.Text("summary", &f.Summary)
	r.Time("due", &f.Due)
	r.Time("started", &f.Started)
	r.Time("ended", &f.Ended)
	r.End()
	return f
}

// write writes the member resubmits, if there is a resubmission.
func (r *Resubmission) write(w *plainjson.Writer) {
	if r == nil {
		return
	}
	w.Begin("resubmits")
	w.Time("nominal", r.Nominal)
	w.OptTime("previous", r.Previous)
	w.End()
}

func readResubmission(r *plainjson.Reader) *Resubmission {
	if !r.Begin("resubmits") {
		return nil
	}
	s := &Resubmission{}
	r.Time("nominal", &s.Nominal)
	r.Time("previous", &s.Previous)
	r.End()
	return s
}
