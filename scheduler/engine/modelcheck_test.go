package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// check looks for what is wrong.
func (m *model) check() {
	m.checkAudit()
	m.checkCalls()
	for i := range modelJobs {
		name := fmt.Sprintf("job%d", i)
		if v, err := m.service.Get(m.t.Context(), key(name)); err == nil {
			m.checkCovered(name, v, m.history(name))
		}
		if _, err := m.service.Disable(m.t.Context(), key(name)); err != nil && !errors.Is(err, scheduler.ErrConflict) && !errors.Is(err, scheduler.ErrNotFound) {
			m.complainf("%s: %v", name, err)
		}
	}
	time.Sleep(time.Minute) // what has begun ends
	for i := range modelJobs {
		m.checkJob(fmt.Sprintf("job%d", i))
	}
}

// checkAudit audits.
func (m *model) checkAudit() {
	rep, err := m.service.Audit(m.t.Context(), false)
	if err != nil {
		m.complainf("audit: %v", err)
		return
	}
	for _, f := range rep.Findings {
		m.complainf("audit: %s: %s", f.Name, f.Problem)
	}
	if rep.Ended > 0 {
		m.complainf("audit: %d ends are not written", rep.Ended)
	}
}

// checkCalls looks at calls: none early, and none repeated but by another process than one that was cut short.
func (m *model) checkCalls() {
	m.target.mu.Lock()
	defer m.target.mu.Unlock()
	before := map[string]*visit{}
	for _, c := range m.target.calls {
		if c.at.Before(c.nominal) {
			m.complainf("%s was called early, at %s", c.id, c.at)
		}
		if first := before[c.id]; first != nil {
			if at, dead := first.by.dead(); !dead || at.Before(first.at) {
				m.complainf("%s was called at %s and again at %s", c.id, first.at, c.at)
			}
		}
		before[c.id] = c
	}
}

// checkJob compares what is shown of a job with its history.
func (m *model) checkJob(name string) {
	v, err := m.service.Get(m.t.Context(), key(name))
	if errors.Is(err, scheduler.ErrNotFound) {
		return
	}
	if err != nil {
		m.complainf("%s: %v", name, err)
		return
	}
	p := v1.Status{}
	ids, begun, ended, doubted := map[string]int{}, map[string]int{}, map[string]int{}, map[string]bool{}
	records := m.history(name)
	var told []string
	for _, r := range records {
		if r.UID != v.Job.Incarnation() {
			continue
		}
		if len(told) < toldRecords {
			told = append(told, fmt.Sprintf("  %s %s %s #%d gen %d at %s", r.Outcome, r.Reason, r.Nominal.Format(clock), r.Try, r.Schedule, r.Ended.Format(clock)))
		}
		switch r.Outcome { //nolint:exhaustive // the others are not counted
		case scheduler.OutcomeCompleted, scheduler.OutcomeFailed:
			ids[r.ID]++
			begun[r.Occurrence]++
			executions, failures := &p.Executions, &p.Failures
			if r.Phase == scheduler.ErrorPhase {
				executions, failures = &p.Errors, &p.ErrorFails
			}
			*executions++
			if r.Outcome == scheduler.OutcomeFailed {
				*failures++
			}
		case scheduler.OutcomeFaulted:
			p.Faults++
		case scheduler.OutcomeSkipped:
			if strings.Contains(r.Message, "may have been called") {
				doubted[r.Occurrence] = true
			}
		}
		if r.Outcome == scheduler.OutcomeCompleted || r.Outcome == scheduler.OutcomeFaulted {
			ended[r.Occurrence]++
		}
	}
	wrong := len(m.wrong)
	for id, n := range ids {
		if n > 1 {
			m.complainf("%s has %d records", id, n)
		}
	}
	for id, n := range ended {
		if n > 1 {
			m.complainf("%s has ended %d times", id, n)
		}
	}
	for occurrence := range begun {
		if ended[occurrence] == 0 {
			m.complainf("%s has failed, and nothing says how it ended", occurrence)
		}
	}
	m.checkRecorded(name, v, ids, doubted)
	s := v.Status
	shown := v1.Status{Executions: s.Executions, Failures: s.Failures, Faults: s.Faults, Errors: s.Errors, ErrorFails: s.ErrorFails}
	if shown != p {
		m.complainf("%s: %+v is shown, and %+v recorded", name, shown, p)
	}
	listed := m.listed(v.Job.State)
	if !slices.Contains(listed, name) {
		m.complainf("%s is %s, and is not listed as that", name, v.Job.State)
	}
	if stored := m.storedState(name); stored != v.Job.State {
		m.complainf("%s is %s, and stored as %s", name, v.Job.State, stored)
	}
	m.checkAccount(v, records)
	if len(m.wrong) > wrong {
		m.wrong = append(m.wrong, told...)
	}
}

// checkAccount has the history alone account for every instant that was due by one of the definitions that the job has had.
func (m *model) checkAccount(v *v1.Job, records []*scheduler.Record) {
	period := explain.Period{Key: v.Job.Key, From: v.Job.Created, To: time.Now(), Now: time.Now(), Versions: m.versionsOf(v.Job)}
	unknown := period.Begin()
	for _, r := range records {
		period.Take(r)
	}
	for _, row := range period.Account(unknown).Rows {
		if row.Outcome.Lacks() || row.Outcome == explain.Pending {
			m.complainf("%s: the history has no end of %s, nor of %d more until %s: %s", v.Job.Key.Job, row.At.Format(clock), row.Count-1,
				row.To.Format(clock), row.Outcome)
		}
	}
	for i, r := range records {
		of := slices.IndexFunc(period.Versions, func(j *scheduler.Job) bool { return j.ScheduleGen == r.Schedule })
		if r.UID != v.Job.Incarnation() || of >= 0 && period.Versions[of].OneShot() { // that runs after all once it is enabled
			continue
		}
		for _, other := range records[:i] {
			if other.UID == r.UID && other.Schedule == r.Schedule && settlesTwice(other, r) {
				m.complainf("%s: %s %s to %s and %s %s to %s are two ends", v.Job.Key.Job, other.Outcome, other.From.Format(clock),
					other.To.Format(clock), r.Outcome, r.From.Format(clock), r.To.Format(clock))
			}
		}
	}
}

// settlesTwice reports whether two records are different ends of one instant of the schedule, or the same skip of it.
func settlesTwice(a, b *scheduler.Record) bool {
	ends := func(r *scheduler.Record) bool {
		switch r.Outcome { //nolint:exhaustive // an attempt may be repeated, and what is postponed may run
		case scheduler.OutcomeCompleted:
			return r.Phase == scheduler.MainPhase
		case scheduler.OutcomeSkipped:
			return r.Reason != scheduler.ReasonDST && r.Reason != scheduler.ReasonCostly
		}
		return r.Outcome == scheduler.OutcomeFaulted
	}
	span := func(r *scheduler.Record) (from, to time.Time) {
		if r.Outcome == scheduler.OutcomeSkipped {
			return r.From, r.To
		}
		return r.Nominal, r.Nominal
	}
	same := a.Outcome == b.Outcome && (a.Outcome != scheduler.OutcomeSkipped || a.Reason != b.Reason)
	if !ends(a) || !ends(b) || same || a.Kind.IsManual() != b.Kind.IsManual() {
		return false
	}
	aFrom, aTo := span(a)
	bFrom, bTo := span(b)
	return !aFrom.After(bTo) && !bFrom.After(aTo)
}

// versionsOf returns the definitions that a job has had, the newest first.
func (m *model) versionsOf(j *scheduler.Job) []*scheduler.Job {
	m.mu.Lock()
	stored := slices.Clone(m.versions)
	m.mu.Unlock()
	versions := []*scheduler.Job{j}
	for _, st := range slices.Backward(stored) {
		if st.Key != j.Key {
			continue
		}
		older, err := scheduler.DecodeJob(st.Key, 0, st.Data, m.actions(), m.vault)
		if err != nil {
			m.complainf("%s: %v", st.Key, err)
		} else if older.UID == j.UID && older.Generation < versions[len(versions)-1].Generation {
			versions = append(versions, older)
		}
	}
	return versions
}

// checkRecorded compares the attempts in a job's history with the calls. doubted has the occurrences whose skipped record says that
// there may have been a call.
func (m *model) checkRecorded(name string, v *v1.Job, ids map[string]int, doubted map[string]bool) {
	m.target.mu.Lock()
	defer m.target.mu.Unlock()
	called := map[string]bool{}
	for _, c := range m.target.calls {
		called[c.id] = true
		if at, dead := c.by.dead(); dead && !at.Before(c.at) && v.Job.Updated.After(c.at) {
			continue // it was edited before another process took it over, and does not run again
		}
		if occurrence, _, _ := strings.Cut(c.id, "#"); doubted[occurrence] {
			continue
		}
		if ids[c.id] == 0 && strings.HasPrefix(c.id, key(name).String()+"@") && c.at.After(v.Job.Created.Add(15*time.Second)) {
			m.complainf("%s was called at %s, and there is no record of it", c.id, c.at)
		}
	}
	for id := range ids {
		if !called[id] {
			m.complainf("%s is recorded, and was not called", id)
		}
	}
}

// What is told of a job's history when something is wrong.
const (
	toldRecords = 30
	clock       = "15:04:05.999"
)

// slack is how long after it was touched a job may follow what it was before.
const slack = 70 * time.Second

// checkCovered looks for a record of each instant of the present schedule since the job was touched last, and a while.
func (m *model) checkCovered(name string, v *v1.Job, records []*scheduler.Record) {
	m.mu.Lock()
	since := slices.MaxFunc(append(m.touched[name], time.Time{}), time.Time.Compare)
	m.mu.Unlock()
	since = since.Add(slack)
	if v.Job.State != scheduler.Enabled {
		return
	}
	if v.Job.OneShot() || v.Job.Plan.MaxRuns() > 0 {
		m.complainf("%s has not ended: %+v", name, v.Status)
		return
	}
	if v.Job.Plan.Moves() { // its instants depend on when it ran
		if late := time.Since(v.Status.Next); v.Status.Next.IsZero() || late > 10*time.Second {
			m.complainf("%s: the next run was due at %s", name, v.Status.Next)
		}
		return
	}
	for at, ok := v.Job.Plan.Next(since); ok && at.Before(time.Now().Add(-10*time.Second)); at, ok = v.Job.Plan.Next(at) {
		if !slices.ContainsFunc(records, func(r *scheduler.Record) bool {
			return r.UID == v.Job.Incarnation() && (r.Nominal.Equal(at) && r.IsAttempt() || r.Outcome == scheduler.OutcomeSkipped && !at.Before(r.From) && !at.After(r.To))
		}) {
			m.complainf("%s: nothing is recorded of %s", name, at)
		}
	}
}
