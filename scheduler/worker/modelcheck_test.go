package worker_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
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
	p := view.Status{}
	ids, begun, ended := map[string]int{}, map[string]int{}, map[string]int{}
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
			p.Executions++
			if r.Outcome == scheduler.OutcomeFailed {
				p.Failures++
			}
		case scheduler.OutcomeFaulted:
			p.Faults++
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
	m.checkRecorded(name, v, ids)
	s := v.Status
	if s.Executions != p.Executions || s.Failures != p.Failures || s.Faults != p.Faults {
		m.complainf("%s: %d executions, %d failures, %d faults are shown, and %d, %d, %d recorded", name,
			s.Executions, s.Failures, s.Faults, p.Executions, p.Failures, p.Faults)
	}
	listed := m.listed(v.Job.State)
	if !slices.Contains(listed, name) {
		m.complainf("%s is %s, and is not listed as that", name, v.Job.State)
	}
	if stored := m.storedState(name); stored != v.Job.State {
		m.complainf("%s is %s, and stored as %s", name, v.Job.State, stored)
	}
	if len(m.wrong) > wrong {
		m.wrong = append(m.wrong, told...)
	}
}

// checkRecorded compares the attempts in a job's history with the calls.
func (m *model) checkRecorded(name string, v *view.Job, ids map[string]int) {
	m.target.mu.Lock()
	defer m.target.mu.Unlock()
	called := map[string]bool{}
	for _, c := range m.target.calls {
		called[c.id] = true
		if at, dead := c.by.dead(); dead && !at.Before(c.at) && v.Job.Updated.After(c.at) {
			continue // it was edited before another process took it over, and does not run again
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
func (m *model) checkCovered(name string, v *view.Job, records []*scheduler.Record) {
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
	for at, ok := v.Job.Plan.Next(since); ok && at.Before(time.Now().Add(-10*time.Second)); at, ok = v.Job.Plan.Next(at) {
		if !slices.ContainsFunc(records, func(r *scheduler.Record) bool {
			return r.UID == v.Job.Incarnation() && (r.Nominal.Equal(at) && r.IsAttempt() || r.Outcome == scheduler.OutcomeSkipped && !at.Before(r.From) && !at.After(r.To))
		}) {
			m.complainf("%s: nothing is recorded of %s", name, at)
		}
	}
}
