package payload

import "github.com/carillon-sched/carillon/scheduler"

// data is all that a template can reach, in exported fields and methods.
type data struct {
	Occurrence, Key        string
	Attempt                int
	Nominal, Due, Previous *moment
	Job                    job
	Failure                *failure
	Data                   values
}

func newData(a scheduler.Attempt, given values) data {
	d := data{
		Data: given, Occurrence: a.Occurrence, Key: a.Key, Attempt: a.Try, Job: job{a.Job.Collection, a.Job.Job},
		Nominal: newMoment(a.Nominal), Due: newMoment(a.Due), Previous: newMoment(a.Previous),
	}
	if a.Failure != nil {
		d.Failure = &failure{*a.Failure}
	}
	return d
}

// job is a job in a template. Its text is collection/name.
type job struct{ Collection, Name string }

func (j job) String() string { return j.Collection + "/" + j.Name }

// failure is what failed. The nil failure is none, with nothing to tell. Its text is its message.
type failure struct{ of scheduler.Failure }

func (f *failure) value() scheduler.Failure {
	if f == nil {
		return scheduler.Failure{}
	}
	return f.of
}

// Status is the target's status code; 0 when it gave none.
func (f *failure) Status() int { return f.value().Status }

// Attempts is how often the action was tried.
func (f *failure) Attempts() int { return f.value().Attempts }

// Message is that of the last attempt.
func (f *failure) Message() string { return f.value().Message }

// Reason is the message without the headers and the body of a response, in one line.
func (f *failure) Reason() string { return scheduler.ReasonIn(f.value().Message) }

func (f *failure) String() string { return f.value().Message }
