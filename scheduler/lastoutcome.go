package scheduler

// NeverRan is the last outcome of a job that has done nothing yet.
const NeverRan Outcome = "never"

// LastOutcomes are what a job's last outcome may be, for who asks for one.
var LastOutcomes = []Outcome{OutcomeCompleted, OutcomeFailed, OutcomeFaulted, OutcomeSkipped, OutcomePostponed, NeverRan}

// LastOutcome says how what a job did last ended: failed while it is retried, or while its errorAction has yet to run, and
// faulted when that was of no avail. What the progress of the job and its baton, nil for none, tell is told by them; else the
// last record of its history, nil for none, is asked. "" when nothing tells.
func LastOutcome(p *Progress, b *Baton, last *Record) Outcome {
	if told := toldOutcome(p, b); told != "" {
		return told
	}
	if last == nil {
		return ""
	}
	return last.Outcome
}

// toldOutcome is the part of [LastOutcome] that needs no history.
func toldOutcome(p *Progress, b *Baton) Outcome {
	switch {
	case b != nil && b.DeferralRecorded:
		return OutcomePostponed
	case b != nil && b.Attempt > 0 || b != nil && b.Phase == ErrorPhase && b.ErrorAction == 0:
		return OutcomeFailed
	case b != nil && b.Begun():
		return ""
	case b != nil && b.PostponementRecorded:
		return OutcomePostponed
	case p.GaveUp:
		return OutcomeSkipped
	case p.Seen.After(p.Ran):
		return "" // skipped or postponed; only the history tells
	case !p.Any():
		return NeverRan
	case p.Executions > 0 && p.Failures == 0:
		return OutcomeCompleted
	}
	return ""
}
