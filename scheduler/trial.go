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
	was, _ := j.Def.properties.Member(mainPath)
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
		return "nothing came within " + document.Duration{Exact: timeout}.String() +
			": a trial waits as long as timeout says, a minute at most"
	case r.Status == 0:
		return "look whether the target runs, and can be reached from the scheduler"
	}
	return StatusHint(r.Status)
}

// StatusHint suggests how to fix a failure with a status code.
func StatusHint(status int) string {
	switch status {
	case 400, 415, 422:
		return "the target does not take what was sent: look at the body and its Content-Type"
	case 401, 403:
		return "the target does not let this caller in: see action.request.authentication, or the secret that it names"
	case 404, 410:
		return "the target has nothing at that address: look at its path"
	case 405:
		return "the target does not take this method at that address"
	case 429:
		return "the target asks to be left alone for a while; a rate in the collection's targets keeps it so"
	}
	switch status / 100 { //nolint:mnd // classes of statuses
	case 2:
		return "the target answered, and action.request.success asks for another answer"
	case 3:
		return "the target is elsewhere: put the address that the header Location has"
	case 5:
		return "the target itself is in trouble: its log may say why"
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
