package explain

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Period collects the account of a job: every instant that was due from From until To, with its record.
//
// An instant is due if the definition in force has it and the job is enabled. An edit takes effect at the time of the
// edit. The account also lists records of instants that were not due, such as the skips of a disabled job.
type Period struct {
	Key      scheduler.Key
	From, To time.Time // To is not after Now
	Now      time.Time

	// Places are where the job's batons are: its own first, then the detached ones. The caller reads them before the
	// records; otherwise a run that ends in between looks lost.
	Places []Place

	// Versions are the definitions in force in the period, the newest first. Known is the instant since which they are
	// all there.
	Versions []*scheduler.Job
	Known    time.Time

	Kept time.Time // the store has all records since then

	end   time.Time // of the answer: To, or earlier if the period has too many instants
	rows  map[time.Time]*AccountRow
	order []time.Time // the instants of the schedule among them
	runs  []AccountRow
	last  map[int]time.Time // by schedule: the run that used up its count
}

// Account lists every instant of a job that was due in a period, with its record or the lack of one.
type Account struct {
	Job  string    `json:"job"` // collection/job
	From time.Time `json:"from"`
	To   time.Time `json:"to"` // exclusive

	// Next is where the account continues, when it has too many instants for one answer: ask again with it as from.
	Next time.Time `json:"next,omitzero"`

	Due     int                `json:"due"`     // instants
	Counts  map[Settlement]int `json:"counts"`  // instants by outcome
	Lacking int                `json:"lacking"` // instants whose end has no record, and that nothing will record: missing, unended
	Unknown []Gap              `json:"unknown,omitempty"`
	Rows    []AccountRow       `json:"instants"`
}

// Gap is a part of a period that the store has too little about.
type Gap struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`

	// Reason is history: the store no longer has its records; edited: it no longer has its definitions; or moves: each run
	// decides when the next one is due, so the account lists only the records.
	Reason string `json:"reason"`
}

// The reasons of gaps.
const (
	GapHistory = "history"
	GapEdited  = "edited"
	GapMoves   = "moves"
)

// AccountRow is an occurrence, or consecutive instants that have one record.
type AccountRow struct {
	At       time.Time        `json:"at"`          // the nominal time
	To       time.Time        `json:"to,omitzero"` // of several instants: the last nominal time
	Count    int              `json:"count"`
	Outcome  Settlement       `json:"outcome"`
	Reason   scheduler.Reason `json:"reason,omitempty"` // of skipped
	Manual   bool             `json:"manual,omitempty"` // a manual run, which no schedule has
	Attempts int              `json:"attempts,omitempty"`
	Record   uint64           `json:"record,omitempty"` // sequence of the record that says so

	schedule int // that has it
}

// Settlement is how far the history has settled an instant.
type Settlement string

// The settlements. The first four are final.
const (
	SettledCompleted Settlement = "completed"
	SettledFaulted   Settlement = "faulted"
	SettledSkipped   Settlement = "skipped"
	SettledPostponed Settlement = "postponed" // with its collection
	Pending          Settlement = "pending"   // the job's baton will record it
	Unended          Settlement = "unended"   // an attempt has a record, its end has none, and no baton is left
	Missing          Settlement = "missing"   // it has no record, and no baton will write one
)

// rank orders settlements: of several records of an instant, the one with the highest rank counts.
func (s Settlement) rank() int {
	return slices.Index([]Settlement{Missing, Unended, Pending, SettledPostponed, SettledSkipped, SettledFaulted, SettledCompleted}, s)
}

// Lacks reports whether an instant has no end in the history, and never gets one.
func (s Settlement) Lacks() bool { return s == Missing || s == Unended }

// maxInstants is how many instants of its schedule an account has at most.
const maxInstants = 5_000

// Begin finds the instants that were due, and the gaps of the account. Call [Period.Take] with the records next.
func (p *Period) Begin() (unknown []Gap) {
	p.rows, p.last, p.end = map[time.Time]*AccountRow{}, map[int]time.Time{}, p.To
	add := func(from, to time.Time, reason string) {
		if from, to = scheduler.Later(from, scheduler.Later(p.From, p.Versions[0].Created)), scheduler.Earlier(to, p.To); from.Before(to) {
			unknown = append(unknown, Gap{from.UTC(), to.UTC(), reason})
		}
	}
	complete := scheduler.Later(p.Kept, p.Known)
	add(p.From, p.Kept, GapHistory)
	add(scheduler.Later(p.From, p.Kept), p.Known, GapEdited)
	for i, j := range slices.Backward(p.Versions) {
		since, until := scheduler.Later(j.Updated, complete), p.end
		if i > 0 {
			until = scheduler.Earlier(p.Versions[i-1].Updated, until)
		}
		switch {
		case j.State == scheduler.Disabled || j.Plan == nil || !since.Before(until):
		case j.Plan.Moves():
			add(since, until, GapMoves)
		default:
			p.due(j, since, until)
		}
	}
	for at := range p.rows {
		p.order = append(p.order, at)
	}
	slices.SortFunc(p.order, time.Time.Compare)
	return unknown
}

// due adds the instants that are due by a definition from since until a time.
func (p *Period) due(j *scheduler.Job, since, until time.Time) {
	last := p.end.Add(-1)
	if j.State.Final() {
		last = scheduler.Earlier(last, j.Progress.Seen)
	}
	from := scheduler.Later(p.From, since.Add(-j.Def.Jitter)).Add(-1)
	if j.ScheduleGen > 1 && !j.OneShot() && j.Def.Timing.Start.IsZero() {
		from = scheduler.Later(from, j.Anchor) // an edit is no reason to run a job that recurs
	}
	stopped := each(j.Plan, from, func(t time.Time) bool {
		due := j.DueAt(t)
		switch {
		case !t.Before(until) || t.After(last):
			return false
		case due.Before(since) || !due.Before(until) && !until.Equal(p.end):
		case len(p.rows) >= maxInstants:
			p.end = t
			return false
		default:
			row := &AccountRow{At: t.UTC(), Outcome: Missing, schedule: j.ScheduleGen}
			if due.After(p.Now) || p.carried(t, scheduler.Planned) {
				row.Outcome = Pending
			}
			p.rows[row.At] = row
		}
		return true
	})
	if !stopped.IsZero() {
		p.end = scheduler.Earlier(p.end, stopped)
	}
}

// each calls f with the instants after a time until it returns false. A schedule whose instants are hard to find is left at
// some instant, which is returned.
func each(plan *spec.Plan, after time.Time, f func(time.Time) bool) (left time.Time) {
	const atOnce, most = 128, 8
	for hard := 0; ; {
		times := plan.After(after, atOnce)
		if len(times) < atOnce {
			if len(times) > 0 {
				after = times[len(times)-1]
			}
			if t, ok := plan.Next(after); ok {
				times = append(times, t)
				hard++
			}
		}
		for _, t := range times {
			if after = t; !f(t) {
				return left
			}
		}
		switch {
		case len(times) == 0:
			return left
		case hard >= most:
			return after.Add(1)
		}
	}
}

// carried reports whether a baton will record an instant: the baton of the occurrence itself, or the job's own, which
// records all instants from [scheduler.Baton.Unrecorded] on.
func (p *Period) carried(nominal time.Time, kind scheduler.Kind) bool {
	for i, place := range p.Places {
		b := place.Baton
		switch {
		case b == nil:
		case b.Nominal.Equal(nominal) && b.Kind.IsManual() == kind.IsManual():
			return true
		case i == 0 && kind.IsScheduled() && !nominal.Before(b.Unrecorded()):
			return true
		}
	}
	return false
}

// Take takes a record of the job. It must have been stored after the instants of the period.
func (p *Period) Take(r *scheduler.Record) {
	switch {
	case r.Damaged || r.Occurrence == "" || !r.IsOf(p.Versions[0].Incarnation()):
	case r.IsAttempt() || r.Outcome == scheduler.OutcomeFaulted:
		p.takeAttempt(r)
	case r.Count <= 1:
		p.settle(r.From, r, Settlement(r.Outcome))
	default:
		p.takeRun(r)
	}
}

// takeRun takes a record of several instants.
func (p *Period) takeRun(r *scheduler.Record) {
	covered := false
	i, _ := slices.BinarySearchFunc(p.order, r.From, time.Time.Compare)
	for ; i < len(p.order) && !p.order[i].After(r.To); i++ {
		if at := p.order[i]; p.rows[at].schedule == r.Schedule || at.Equal(r.From) || at.Equal(r.To) {
			p.settle(at, r, Settlement(r.Outcome))
			covered = true
		}
	}
	if !covered && !r.To.Before(p.From) && r.From.Before(p.end) { // of a time at which the job was disabled, or that is unknown
		p.runs = append(p.runs, AccountRow{
			At: r.From.UTC(), To: r.To.UTC(), Count: r.Count, Outcome: Settlement(r.Outcome), Reason: r.Reason, Record: r.Sequence,
		})
	}
}

// takeAttempt takes a record of an attempt, or of the end of an occurrence.
func (p *Period) takeAttempt(r *scheduler.Record) {
	outcome := Unended
	switch {
	case r.Outcome == scheduler.OutcomeFaulted, r.Outcome == scheduler.OutcomeCompleted && r.Phase == scheduler.MainPhase:
		outcome = Settlement(r.Outcome)
	case p.carried(r.Nominal, r.Kind):
		outcome = Pending
	}
	i := slices.IndexFunc(p.Versions, func(j *scheduler.Job) bool { return j.ScheduleGen == r.Schedule })
	if i >= 0 && r.Kind == scheduler.Planned {
		if most := p.Versions[i].Plan.MaxRuns(); most > 0 && r.Progress.Runs >= most {
			p.last[r.Schedule] = r.Nominal
		}
	}
	row := p.settle(r.Nominal, r, outcome)
	if row != nil && !r.Started.IsZero() && r.Outcome != scheduler.OutcomeFaulted {
		row.Attempts++
	}
}

// settle applies a record to an instant, unless an earlier record outranks it. It returns nil outside the period.
func (p *Period) settle(at time.Time, r *scheduler.Record, outcome Settlement) *AccountRow {
	if at.Before(p.From) || !at.Before(p.end) {
		return nil
	}
	at = at.UTC()
	row := p.rows[at]
	if row == nil {
		row = &AccountRow{At: at, Outcome: Missing, Manual: r.Kind.IsManual()}
		p.rows[at] = row
	}
	if outcome == SettledPostponed && p.isNext(at) { // of a one-shot, which waits for its collection
		outcome = Pending
	}
	if outcome.rank() > row.Outcome.rank() || row.Record == 0 && outcome == row.Outcome {
		row.Outcome, row.Reason, row.Record = outcome, r.Reason, r.Sequence
	}
	return row
}

// isNext reports whether the job's own baton waits for an instant or runs it.
func (p *Period) isNext(at time.Time) bool {
	return len(p.Places) > 0 && p.Places[0].Baton != nil && p.Places[0].Baton.Nominal.Equal(at)
}

// Account returns the account of the records taken so far. Begin returned unknown.
func (p *Period) Account(unknown []Gap) *Account {
	a := &Account{
		Job: p.Key.String(), From: p.From.UTC(), To: p.end.UTC(), Unknown: unknown, Counts: map[Settlement]int{},
		Rows: append([]AccountRow{}, p.runs...),
	}
	if p.end.Before(p.To) {
		a.Next = p.end.UTC()
	}
	for at, row := range p.rows {
		if last, ok := p.last[row.schedule]; ok && row.Record == 0 && at.After(last) {
			continue // its count leaves nothing after that run
		}
		row.Count = 1
		a.Rows = append(a.Rows, *row)
	}
	slices.SortFunc(a.Rows, func(x, y AccountRow) int { return x.At.Compare(y.At) })
	a.Rows = joined(a.Rows)
	for _, row := range a.Rows {
		a.Due += row.Count
		a.Counts[row.Outcome] += row.Count
		if row.Outcome.Lacks() {
			a.Lacking += row.Count
		}
	}
	return a
}

// joined makes one row of consecutive instants that have the same record, or none.
func joined(rows []AccountRow) []AccountRow {
	all := rows[:0]
	for _, row := range rows {
		if last := len(all) - 1; last >= 0 && row.Attempts == 0 && all[last].Attempts == 0 && all[last].Outcome == row.Outcome &&
			all[last].Record == row.Record && all[last].Reason == row.Reason && !all[last].Manual {
			all[last].To, all[last].Count = row.At, all[last].Count+row.Count
			continue
		}
		all = append(all, row)
	}
	return all
}
