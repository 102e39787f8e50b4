package dispatch

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// handler performs an operation.
type handler func(ctx context.Context, s *control.Service, r *Request) (Answer, error)

// calls perform the operations, by ID.
var calls = map[string]handler{
	"listCollections":   listCollections,
	"putCollection":     putCollection,
	"patchCollection":   patchCollection,
	"enableCollection":  turnCollection(scheduler.Enabled),
	"disableCollection": turnCollection(scheduler.Disabled),
	"getCollection": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return collection(s.Collection(ctx, r.Key.Collection))
	},
	"deleteCollection": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return Answer{}, s.DeleteCollection(ctx, r.Key.Collection, r.Flag("onlyEmpty"))
	},
	"cancelCollection": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.CancelCollection(ctx, r.Key.Collection, r.Body))
	},

	"listJobs":          listJobs,
	"listAllJobs":       listJobs,
	"jobHistory":        jobHistory,
	"collectionHistory": history,
	"history":           history,
	"jobAudit":          changes,
	"collectionAudit":   changes,
	"audit":             changes,

	"createJob": createJob,
	"putJob":    putJob,
	"getJob": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return job(s.Get(ctx, r.Key))
	},
	"patchJob": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return job(s.Patch(ctx, edit(r)))
	},
	"deleteJob": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return Answer{}, s.Delete(ctx, r.Key, 0)
	},
	"runJob": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		id, err := s.RunBy(ctx, r.Key, r.Body, s.Now())
		return shown(v1.StartedRun{Occurrence: id}, err)
	},
	"resubmitJob": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.Resubmit(ctx, r.Key, r.Body))
	},
	"enableJob": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return job(s.Enable(ctx, r.Key))
	},
	"disableJob": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return job(s.Disable(ctx, r.Key))
	},
	"pauseJob": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return job(s.PauseBy(ctx, r.Key, r.Body, s.Now()))
	},
	"cancelJob": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.Cancel(ctx, r.Key, r.Body))
	},
	"tryJob": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.TestRun(ctx, r.Key, r.Body))
	},
	"preview": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		p, err := s.Preview(ctx, r.Body)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Document: v1.Preview(p)}, nil
	},

	"createOperation": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		op, err := s.CreateOperation(within(ctx, r), r.Text("collection"), r.Body)
		return created(op, err == nil && op.ID != "", err) // a dry run has no ID
	},
	"listOperations": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		all, err := s.Operations(within(ctx, r))
		return listed(all, err, same)
	},
	"getOperation": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.Operation(within(ctx, r), r.Name))
	},
	"cancelOperation": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.CancelOperation(within(ctx, r), r.Name))
	},

	"listEvents":    events,
	"listAllEvents": events,
	"getEvent": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		sequence, err := v1.ReadSequence("id", r.Name)
		if err != nil {
			return Answer{}, err
		}
		e, err := s.Event(ctx, sequence, auth.Sees(within(ctx, r)))
		if err != nil {
			return Answer{}, err
		}
		return Answer{Document: v1.PublicEvent(e)}, nil
	},
	"graph": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.Graph(ctx, r.Text("collection"), auth.Sees(within(ctx, r))))
	},
	"testEvent": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.TestEvent(ctx, r.Key, r.Body))
	},
	"replayEvent": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.ReplayEvent(ctx, r.Key, r.Body, r.Flag("dryRun")))
	},

	"listSources":    listSources,
	"listAllSources": listSources,
	"getSource": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return source(s.Source(ctx, r.Key))
	},
	"putSource": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		v, result, err := s.PutSource(ctx, r.Key, r.Body)
		a, err := source(v, err)
		if err == nil {
			v.Result, a.Created = result, result == v1.Created
		}
		return a, err
	},
	"patchSource": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return source(s.PatchSource(ctx, r.Key, r.Body))
	},
	"deleteSource": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return Answer{}, s.DeleteSource(ctx, r.Key)
	},

	"listFailures": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		all, err := s.Failures(within(ctx, r))
		return listed(all, err, same)
	},
	"getActivity": func(ctx context.Context, s *control.Service, _ *Request) (Answer, error) {
		return shown(s.Activity(ctx))
	},
	"getFailure": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.Failure(within(ctx, r), r.Name))
	},
	"acknowledgeFailure": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.AcknowledgeFailure(within(ctx, r), r.Name, r.Body))
	},
	"muteFailure": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.MuteFailure(within(ctx, r), r.Name, r.Body))
	},
	"reopenFailure": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.ReopenFailure(within(ctx, r), r.Name))
	},

	"why": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.Why(ctx, r.Key, r.Text("at")))
	},
	"account": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.Account(ctx, r.Key, r.Text("from"), r.Text("to")))
	},
	"forecast": forecast,

	"listSecrets": func(ctx context.Context, s *control.Service, _ *Request) (Answer, error) {
		all, err := s.Secrets(ctx)
		return listed(all, err, same)
	},
	"putSecret": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return created(s.PutSecret(ctx, r.Name, r.Body))
	},
	"deleteSecret": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return Answer{}, s.DeleteSecret(ctx, r.Name, r.Flag("force"))
	},
	"rotateSecrets": func(ctx context.Context, s *control.Service, _ *Request) (Answer, error) {
		return shown(s.RotateSecrets(ctx))
	},
	"listTokens": func(ctx context.Context, s *control.Service, _ *Request) (Answer, error) {
		all, err := s.Tokens(ctx)
		return listed(all, err, same)
	},
	"createToken": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		made, text, err := s.CreateToken(ctx, r.Body)
		return created(v1.NewToken{Token: made, Text: text}, true, err)
	},
	"revokeToken": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.RevokeToken(ctx, r.Name))
	},
	"doctor": func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return shown(s.Doctor(ctx, r.Flag("fix")))
	},
}

// within limits a request about operations on many jobs to a collection, if it names one.
func within(ctx context.Context, r *Request) context.Context {
	return auth.Within(ctx, r.Text("collection"))
}

func edit(r *Request) control.Edit {
	return control.Edit{Key: r.Key, Body: r.Body, Strict: r.Flag("strict"), DryRun: r.Flag("dryRun")}
}

func putJob(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	v, isNew, err := s.Put(ctx, edit(r))
	a, err := job(v, err)
	a.Created = isNew && !r.Flag("dryRun")
	return a, err
}

// createJob makes a job under a new name. Azure Scheduler's classic API ("Create Job") had it; its resource manager has not.
func createJob(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	e := edit(r)
	e.Key.Job = newName()
	v, _, err := s.Put(ctx, e)
	a, err := job(v, err)
	if !e.DryRun {
		a.Created, a.Located = true, e.Key.Job
	}
	return a, err
}

// newName is a name for a job, of 130 random bits.
func newName() string { return "job-" + strings.ToLower(rand.Text()) }

func listSources(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	all, err := s.Sources(ctx, r.Key.Collection, auth.Sees(ctx))
	return listed(all, err, same)
}

func listCollections(ctx context.Context, s *control.Service, _ *Request) (Answer, error) {
	all, err := s.Collections(ctx)
	sees := auth.Sees(ctx)
	all = slices.DeleteFunc(all, func(c *scheduler.Collection) bool { return !sees(c.Name) })
	return listed(all, err, func(c *scheduler.Collection) any { return v1.Collection(c) })
}

func putCollection(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	if r.Flag("dryRun") {
		return shown(s.DryRunCollection(ctx, r.Key.Collection, r.Body))
	}
	c, result, err := s.PutCollection(ctx, r.Key.Collection, r.Body)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Document: v1.PutCollection(c, result), ETag: c.ETag(), Created: result == v1.Created}, nil
}

func patchCollection(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	if r.Flag("dryRun") {
		return shown(s.DryRunCollectionPatch(ctx, r.Key.Collection, r.Body))
	}
	return collection(s.PatchCollection(ctx, r.Key.Collection, r.Body))
}

func turnCollection(to scheduler.State) handler {
	return func(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
		return collection(s.SetCollectionState(ctx, r.Key.Collection, to))
	}
}

func forecast(ctx context.Context, s *control.Service, r *Request) (Answer, error) {
	q := control.ForecastQuery{
		Collection: r.Text("collection"), Sees: auth.Sees(ctx), From: r.Time("from"),
		Hours: r.Number("hours"), Proposals: r.Number("proposals"),
	}
	if q.Collection != "" {
		if err := auth.Check(ctx, auth.Read, q.Collection); err != nil {
			return Answer{}, err
		}
	}
	return shown(s.Forecast(ctx, q))
}
