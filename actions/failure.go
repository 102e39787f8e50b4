package actions

import (
	"time"

	"github.com/carillon-sched/carillon/actions/egress"
	"github.com/carillon-sched/carillon/scheduler"
)

// Failure is why an attempt failed, in the classification that all action types share. Each package has an adapter that
// classifies the errors of its client library:
//
//	cause                                            constructor    Status    otherwise
//	the message or a setting of the job is invalid   [Invalid]                Final, SkipCircuit
//	a secret or another prerequisite is missing      [Unready]                SkipCircuit
//	jobs must not reach the address                  [Unanswered]             Final, SkipCircuit
//	the network failed, or the attempt ended         [Unanswered]             –
//	the target responded                             [Answered]     of HTTP   Final by [scheduler.FinalStatus]
//
// An adapter can override a field, for example for a response about one queue of a target.
type Failure struct {
	Reason      string        // a few words, without secrets
	Status      int           // status of the response, or the nearest of HTTP; 0: there was none
	Final       bool          // a retry cannot help
	SkipCircuit bool          // it says nothing about the target; see [scheduler.Result]
	RetryAfter  time.Duration // delay that the target requests; 0: none
}

// Error returns the reason.
func (f *Failure) Error() string { return f.Reason }

// Invalid is the failure of an attempt that nothing was sent for, and will not be.
func Invalid(err error) *Failure {
	return &Failure{Reason: err.Error(), Final: true, SkipCircuit: true}
}

// Unready is the failure of an attempt that nothing was sent for. Its retry may find a shared secret that is missing now.
func Unready(err error) *Failure { return &Failure{Reason: err.Error(), SkipCircuit: true} }

// Unanswered is the failure of an attempt without a response, because of err, which reason explains.
func Unanswered(err error, reason string) *Failure {
	refused := egress.IsRefused(err)
	return &Failure{Reason: reason, Final: refused, SkipCircuit: refused}
}

// Answered is the failure of an attempt with a response.
func Answered(status int, reason string) *Failure {
	return &Failure{Reason: reason, Status: status, Final: scheduler.FinalStatus(status)}
}

// Result returns the result of the attempt.
func (f *Failure) Result(summary string) scheduler.Result {
	return scheduler.Result{
		Failed: true, Final: f.Final, SkipCircuit: f.SkipCircuit, Status: f.Status, RetryAfter: f.RetryAfter, Summary: summary,
	}
}
