package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// JobView is a job as users see it.
type JobView struct {
	Job        *Job
	Status     Status
	Superseded bool // the edit was older than what the job has, and was left out
}

// Status is what the scheduler reports of a job.
type Status struct {
	Executions int       // attempts run
	Failures   int       // attempts that failed
	Faults     int       // occurrences that failed after all retries
	Last       time.Time // start of the last attempt; zero: none
	Next       time.Time // when the attempt that comes next, or is under way, is due; zero: none
	Running    bool      // the baton is with a worker: running, or about to
	Retry      int       // of the occurrence under way: retries so far
}

func newView(j *Job, p Progress) *JobView {
	return &JobView{Job: j, Status: Status{Executions: p.Executions, Failures: p.Failures, Faults: p.Faults, Last: p.Last}}
}

// Get returns a job with its status.
func (s *Service) Get(ctx context.Context, k Key) (*JobView, error) {
	if err := k.Validate(); err != nil {
		return nil, err
	}
	return s.viewOf(ctx, k)
}

func (s *Service) viewOf(ctx context.Context, k Key) (*JobView, error) {
	j, _, err := s.find(ctx, k)
	if err != nil {
		return nil, err
	}
	if j == nil {
		return nil, fmt.Errorf("job %s: %w", k, ErrNotFound)
	}
	return s.view(ctx, j)
}

// view adds the status that the baton carries.
func (s *Service) view(ctx context.Context, j *Job) (*JobView, error) {
	if j.State != Enabled {
		return newView(j, j.Progress), nil
	}
	b, running, err := s.baton(ctx, j)
	if errors.Is(err, ErrNotFound) {
		return newView(j, j.Progress), nil
	}
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", j.Key, err)
	}
	v := newView(j, b.Progress)
	v.Status.Running, v.Status.Retry = running, b.Attempt
	v.Status.Next = b.next()
	return v, nil
}

// Document returns the job in the form of Azure Scheduler.
func (v *JobView) Document() document.Value {
	k := v.Job.Key
	properties := append([]document.Member{}, v.Job.Def.properties.Members()...)
	properties = append(properties, member("state", string(v.Job.State)),
		document.Member{Name: "status", Value: v.Status.value(v.Job.Plan.Describe())})
	return document.ObjectValue(
		member("id", "/jobCollections/"+k.Collection+"/jobs/"+k.Job),
		member("type", "Microsoft.Scheduler/jobCollections/jobs"),
		member("name", k.String()),
		document.Member{Name: "properties", Value: document.ObjectValue(properties...)},
	)
}

func (s *Status) value(schedule string) document.Value {
	members := []document.Member{
		member("schedule", schedule),
		number("executionCount", s.Executions), number("failureCount", s.Failures), number("faultedCount", s.Faults),
	}
	if !s.Last.IsZero() {
		members = append(members, member("lastExecutionTime", s.Last.UTC().Format(time.RFC3339Nano)))
	}
	if !s.Next.IsZero() {
		members = append(members, member("nextExecutionTime", s.Next.UTC().Format(time.RFC3339Nano)))
	}
	if s.Running {
		members = append(members, document.Member{Name: "running", Value: document.BoolValue(true)})
	}
	if s.Retry > 0 {
		members = append(members, number("retryCount", s.Retry))
	}
	return document.ObjectValue(members...)
}

func member(name, text string) document.Member {
	return document.Member{Name: name, Value: document.StringValue(text)}
}

func number(name string, n int) document.Member {
	return document.Member{Name: name, Value: document.NumberValue(strconv.Itoa(n))}
}

// Page says which part of a list is wanted.
type Page struct {
	Skip  int
	Top   int    // 0: MaxPage
	After string // of a list of jobs: the name after which it goes on, where Skip begins to count
}

// MaxPage is the most entries a page has.
const MaxPage = 100

// Validate checks the page's bounds.
func (p Page) Validate() error {
	var problems document.Problems
	if p.Top < 0 || p.Top > MaxPage {
		problems = append(problems, document.Problem{Path: "$top", Message: fmt.Sprintf("%d is not in 1-%d", p.Top, MaxPage)})
	}
	if p.Skip < 0 {
		problems = append(problems, document.Problem{Path: "$skip", Message: fmt.Sprintf("%d is negative", p.Skip)})
	}
	if problems == nil {
		return nil
	}
	return AsInvalid(problems)
}

func (p Page) top() int {
	if p.Top == 0 {
		return MaxPage
	}
	return p.Top
}

// List returns a page of a collection's jobs by name, of one state when state
// is not empty. more tells whether jobs follow.
func (s *Service) List(ctx context.Context, collection string, state State, p Page) (views []*JobView, more bool, err error) {
	if err := errors.Join(ValidateName("collection", collection), p.Validate()); err != nil {
		return nil, false, err
	}
	if _, err := s.collections.get(ctx, collection); err != nil {
		return nil, false, err
	}
	var keys []Key
	err = s.store.EachJob(ctx, collection, func(k Key) error { keys = append(keys, k); return nil })
	if err != nil {
		return nil, false, err
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i].Job < keys[j].Job })
	passed := sort.Search(len(keys), func(i int) bool { return keys[i].Job > p.After })
	keys, skip := keys[passed:], p.Skip
	if skip > 0 && state == "" { // without a filter, the part before the page need not be read one by one
		if keys, err = s.existing(ctx, keys, skip+p.top()+1); err != nil {
			return nil, false, err
		}
		keys, skip = keys[min(skip, len(keys)):], 0
	}
	for _, k := range keys {
		v, err := s.viewOf(ctx, k)
		if errors.Is(err, ErrNotFound) || v != nil && state != "" && v.Job.State != state {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		if skip > 0 {
			skip--
			continue
		}
		if len(views) == p.top() {
			return views, true, nil
		}
		views = append(views, v)
	}
	return views, false, nil
}

// batchKeys is how many definitions are asked for at once.
const batchKeys = 1024

// existing returns the first n of keys whose jobs exist. The store's index has those of jobs, too, that were deleted
// during the last hour.
func (s *Service) existing(ctx context.Context, keys []Key, n int) ([]Key, error) {
	var found []Key
	for batch := range slices.Chunk(keys, min(max(n, 1), batchKeys)) {
		there := make(map[Key]bool, len(batch))
		if err := s.store.LoadJobs(ctx, batch, func(st Stored) { there[st.Key] = true }); err != nil {
			return nil, err
		}
		for _, k := range batch {
			if there[k] {
				found = append(found, k)
			}
		}
		if len(found) >= n {
			return found[:n], nil
		}
	}
	return found, nil
}

// History returns a page of a job's records, newest first, with one of the
// outcomes when any are given. more tells whether records follow.
func (s *Service) History(ctx context.Context, k Key, outcomes []Outcome, p Page) (records []*Record, more bool, err error) {
	if err := errors.Join(k.Validate(), p.Validate()); err != nil {
		return nil, false, err
	}
	if _, err := s.store.LoadJob(ctx, k); err != nil {
		return nil, false, fmt.Errorf("job %s: %w", k, err)
	}
	skip := p.Skip
	err = s.store.Recent(ctx, k, 0, outcomes, func(r *Record) bool {
		switch {
		case skip > 0:
			skip--
		case len(records) == p.top():
			more = true
		default:
			records = append(records, r)
		}
		return !more
	})
	return records, more, err
}

// Follow calls ready once, and then f for every record written from then on:
// of one job, of a collection when k.Job is empty, or of all when k is the
// zero Key, until ctx is done. f may be called a last time while Follow
// returns.
func (s *Service) Follow(ctx context.Context, k Key, ready func(), f func(*Record)) error {
	return s.store.Follow(ctx, k, ready, f)
}
