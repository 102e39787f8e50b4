package scheduler

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// MaxTrial is the maximum duration of a test run.
const MaxTrial = time.Minute

// TestRun parses a job document for a test run. Secrets that it omits are taken from j, the stored job of the name (nil
// for none), because no API returns them. kept holds the paths of these secrets; [CheckKept] decides whether the
// document may use them.
func (r *DefinitionDecoder) TestRun(j *Job, v document.Value) (d *ParsedDefinition, kept []string) {
	d = r.Document(v)
	if j == nil {
		return d, nil
	}
	was, _ := j.Def.Document().Member(mainPath)
	is, _ := d.Written.Member(mainPath)
	whole, kept := was.Without(errorAction).Completed(mainPath, is)
	if len(kept) == 0 {
		return d, nil
	}
	at := mainPath
	if d.At != "" {
		at = d.At + "." + mainPath
	}
	return r.Document(v.With(whole, at).Clone()), kept
}

// Hint suggests how to fix a failed result of a test run; "" if its message suffices. timeout is the maximum duration
// of the test run.
func (r Result) Hint(timeout time.Duration) string {
	switch {
	case !r.Failed:
		return ""
	case r.Status == 0 && r.SkipCircuit:
		return "nothing was sent: fix the problem in the message"
	case r.Status == 0 && r.Duration >= timeout:
		return "no response within " + document.Duration{Exact: timeout}.String() +
			": a test run waits for the job's timeout, at most a minute"
	case r.Status == 0:
		return "check that the target runs, and that the scheduler can reach it"
	}
	return StatusHint(r.Status)
}

// StatusHint suggests how to fix a failure with a status code.
func StatusHint(status int) string {
	switch status {
	case 400, 415, 422:
		return "the target rejects the request: check the body and its Content-Type"
	case 401, 403:
		return "the target denies access: check action.request.authentication, or its secret"
	case 404, 410:
		return "the target has nothing at this address: check the path"
	case 405:
		return "the target does not support this method at this address"
	case 429:
		return "the target requests fewer calls: set a rate in the targets of the collection"
	}
	switch status / 100 { //nolint:mnd // classes of statuses
	case 2:
		return "the target responded, but action.request.success requires another response"
	case 3:
		return "the target has moved: use the address in the header Location"
	case 5:
		return "the target failed: check its log"
	}
	return ""
}

// TestRunOf returns the attempt of a test run. mark makes its idempotency key unique, so that it is not the key of an
// occurrence.
func TestRunOf(k Key, def *Definition, mark string, now time.Time) Attempt {
	id := OccurrenceID(k, now)
	return Attempt{
		Job: k, Occurrence: id, ID: id + "#1", Key: id + "/trial-" + mark, Nominal: now, Due: now, Try: 1,
		Timeout: min(def.Timeout, MaxTrial),
	}
}
