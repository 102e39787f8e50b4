package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// Job is a job as the API shows it.
type Job struct {
	Name        string // collection/job
	ETag        string // tells this definition from others of the job
	State       scheduler.State
	PausedUntil time.Time // until when it is paused; zero: it is not
	Status      view.Status
	Secrets     []string        // paths of the secrets in the job, which the API hides
	Inherited   json.RawMessage // settings of the collection's defaults that apply to the job; nil: none
	Labels      map[string]string
	Properties  json.RawMessage
	Document    json.RawMessage // all of it

	// Set only in the answer to an edit.
	Result   view.Result
	Warnings []spec.Warning
	DryRun   *view.DryRun // of a dry run of a job that would run
}

// Key is the job's name.
func (j *Job) Key() scheduler.Key {
	collection, name, _ := strings.Cut(j.Name, "/")
	return scheduler.Key{Collection: collection, Job: name}
}

// resource is what the documents of jobs and records have in common.
type resource struct {
	Name       string          `json:"name"`
	Properties json.RawMessage `json:"properties"`
}

// UnmarshalJSON reads a job document.
func (j *Job) UnmarshalJSON(data []byte) error {
	var doc struct {
		resource

		ETag     string         `json:"etag"`
		Result   view.Result    `json:"result"`
		Warnings []spec.Warning `json:"warnings"`
		DryRun   *view.DryRun   `json:"dryRun"`
	}
	var properties struct {
		State       scheduler.State   `json:"state"`
		PausedUntil time.Time         `json:"pausedUntil"`
		Labels      map[string]string `json:"labels"`
		Status      struct {
			view.Status

			Secrets   []string        `json:"secrets"`
			Inherited json.RawMessage `json:"inherited"`
		} `json:"status"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	if err := json.Unmarshal(doc.Properties, &properties); err != nil {
		return err
	}
	*j = Job{
		Name: doc.Name, ETag: doc.ETag, State: properties.State, PausedUntil: properties.PausedUntil,
		Status: properties.Status.Status, Secrets: properties.Status.Secrets, Inherited: properties.Status.Inherited,
		Labels: properties.Labels, Properties: doc.Properties, Document: append(json.RawMessage(nil), data...),
		Result: doc.Result, Warnings: doc.Warnings, DryRun: doc.DryRun,
	}
	return nil
}

func jobPath(k scheduler.Key) string {
	return "/jobCollections/" + url.PathEscape(k.Collection) + "/jobs/" + url.PathEscape(k.Job)
}

// PutOptions say how a job is put, or patched.
type PutOptions struct {
	Strict bool // what would be warned of is refused
	DryRun bool // everything is checked, and nothing written

	// IfMatch is the [Job] ETag of the definition that is to be replaced: when it is
	// another one by now, or there is none, nothing is written, and the error matches
	// ErrPrecondition. Default: whatever is there is replaced.
	IfMatch string
	OnlyNew bool // a job that exists already is left alone, likewise
}

// headers are the options that are headers.
func (o PutOptions) headers() []string {
	var all []string
	if o.IfMatch != "" {
		all = append(all, scheduler.IfMatch+": "+o.IfMatch)
	}
	if o.OnlyNew {
		all = append(all, scheduler.IfNoneMatch+": *")
	}
	return all
}

// query is the options as a query, with its question mark.
func (o PutOptions) query() string {
	q := url.Values{}
	if o.Strict {
		q.Set("strict", "true")
	}
	if o.DryRun {
		q.Set("dryRun", "true")
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

// Put creates a job or replaces its definition: its Result tells which.
func (c *Client) Put(ctx context.Context, k scheduler.Key, body []byte, o PutOptions) (*Job, error) {
	return c.job(ctx, http.MethodPut, jobPath(k)+o.query(), body, o.headers()...)
}

// Patch merges a document into a job's definition, as RFC 7396 says: what it does
// not name stays, and null removes.
func (c *Client) Patch(ctx context.Context, k scheduler.Key, body []byte, o PutOptions) (*Job, error) {
	return c.job(ctx, http.MethodPatch, jobPath(k)+o.query(), body, o.headers()...)
}

// Get returns a job.
func (c *Client) Get(ctx context.Context, k scheduler.Key) (*Job, error) {
	return c.job(ctx, http.MethodGet, jobPath(k), nil)
}

// job makes a request that is answered with a job.
func (c *Client) job(ctx context.Context, method, path string, body []byte, headers ...string) (*Job, error) {
	j := &Job{}
	_, err := c.call(ctx, method, path, body, j, headers...)
	return j, err
}

// Run runs a job now, besides its schedule, and returns the id of the occurrence.
func (c *Client) Run(ctx context.Context, k scheduler.Key) (occurrence string, err error) {
	return c.RunWith(ctx, k, nil)
}

// RunWith is [Client.Run] with values for the job's templates: an object as JSON, nil for none. The history shows them.
func (c *Client) RunWith(ctx context.Context, k scheduler.Key, data json.RawMessage) (occurrence string, err error) {
	var body []byte
	if data != nil {
		if body, err = json.Marshal(map[string]json.RawMessage{"data": data}); err != nil {
			return "", fmt.Errorf("data: %w", err)
		}
	}
	var started struct {
		Occurrence string `json:"occurrence"`
	}
	_, err = c.call(ctx, http.MethodPost, jobPath(k)+"/run", body, &started)
	return started.Occurrence, err
}

// Resubmit runs an occurrence of a job again, as a run by hand. force says to do so
// although it succeeded.
func (c *Client) Resubmit(ctx context.Context, k scheduler.Key, occurrence string, force bool) (*view.Resubmitted, error) {
	return send[view.Resubmitted](ctx, c, jobPath(k)+"/resubmit", map[string]any{"occurrence": occurrence, "force": force})
}

// Enable lets a disabled or paused job run again. The Result of the returned job says whether that changed anything.
func (c *Client) Enable(ctx context.Context, k scheduler.Key) (*Job, error) {
	return c.job(ctx, http.MethodPost, jobPath(k)+"/enable", nil)
}

// Disable stops a job until it is enabled. It returns the job as [Client.Enable] does.
func (c *Client) Disable(ctx context.Context, k scheduler.Key) (*Job, error) {
	return c.job(ctx, http.MethodPost, jobPath(k)+"/disable", nil)
}

// Pause keeps a job from starting anything until a time, after which it goes on by itself: an RFC 3339 time, or on the job's
// clock 2h, 9:00, "tomorrow 9:00" and the like. It returns the job. Enable ends a pause.
func (c *Client) Pause(ctx context.Context, k scheduler.Key, until string) (*Job, error) {
	return send[Job](ctx, c, jobPath(k)+"/pause", map[string]string{"until": until})
}

// CancelOptions say what to cancel.
type CancelOptions struct {
	Occurrence string `json:"occurrence,omitempty"` // of a job: its time or its id. Default: all that have begun
	Reason     string `json:"reason,omitempty"`     // for the history and the audit log
	DryRun     bool   `json:"dryRun,omitempty"`     // only name what would be canceled
}

// Cancel ends the active occurrences of a job: it cancels attempts in flight, and no retry follows. The error is a
// [scheduler.ErrConflict] if the job has no active occurrence.
func (c *Client) Cancel(ctx context.Context, k scheduler.Key, o CancelOptions) (*view.Cancellation, error) {
	return send[view.Cancellation](ctx, c, jobPath(k)+"/cancel", o)
}

// CancelCollection is [Client.Cancel] for all jobs of a collection. None at all is no error.
func (c *Client) CancelCollection(ctx context.Context, name string, o CancelOptions) (*view.Cancellation, error) {
	return send[view.Cancellation](ctx, c, collectionPath(name)+"/cancel", o)
}

// send posts a document, nil for none, and returns the answer.
func send[T any](ctx context.Context, c *Client, path string, document any) (*T, error) {
	var body []byte
	if document != nil {
		var err error
		if body, err = json.Marshal(document); err != nil {
			return nil, err
		}
	}
	v := new(T)
	_, err := c.call(ctx, http.MethodPost, path, body, v)
	return v, err
}

// tryTimeout is longer than a trial takes: a minute, and some seconds for a slot, behind others of the same caller.
const tryTimeout = 5 * time.Minute

// Try runs one attempt of a job that is not stored, or of the stored one without a body, and returns what became of it. A
// failed attempt is no error. The body {"data": {…}} gives data to the stored job, as [Client.RunWith] does.
func (c *Client) Try(ctx context.Context, k scheduler.Key, body []byte) (*view.Trial, error) {
	p, done := c.patient()
	defer done()
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	v := &view.Trial{}
	_, err := p.call(ctx, http.MethodPost, jobPath(k)+"/try", body, v)
	return v, err
}

func (c *Client) post(ctx context.Context, path string) error {
	_, err := c.call(ctx, http.MethodPost, path, nil, nil)
	return err
}

// Delete removes a job and its history.
func (c *Client) Delete(ctx context.Context, k scheduler.Key) error {
	_, err := c.call(ctx, http.MethodDelete, jobPath(k), nil, nil)
	return err
}

// Doctor compares jobs with batons, and mends what is wrong when fix is set.
func (c *Client) Doctor(ctx context.Context, fix bool) (*view.AuditReport, error) {
	path := "/doctor"
	if fix {
		path += "?fix=true"
	}
	r := &view.AuditReport{}
	_, err := c.call(ctx, http.MethodPost, path, nil, r)
	return r, err
}
