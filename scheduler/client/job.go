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
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Job is a job as the API returns it.
type Job struct {
	Name        string // collection/job
	ETag        string // identifies this revision of the definition
	State       scheduler.State
	PausedUntil time.Time // end of the pause; zero: not paused
	Status      v1.Status
	Secrets     []string        // paths of the secrets in the job, which the API hides
	Inherited   json.RawMessage // settings of the collection's defaults that apply to the job; nil: none
	Labels      map[string]string
	Properties  json.RawMessage
	Document    json.RawMessage // the complete answer

	// Set only in the answer to an edit.
	Result   v1.Result
	Warnings []spec.Warning
	DryRun   *v1.DryRun // of a dry run of a job that would run
}

// Key returns the job's name.
func (j *Job) Key() scheduler.Key {
	collection, name, _ := strings.Cut(j.Name, "/")
	return scheduler.Key{Collection: collection, Job: name}
}

// resource holds the common fields of job and record documents.
type resource struct {
	Name       string          `json:"name"`
	Properties json.RawMessage `json:"properties"`
}

// UnmarshalJSON decodes a job document.
func (j *Job) UnmarshalJSON(data []byte) error {
	var doc struct {
		resource

		ETag     string         `json:"etag"`
		Result   v1.Result      `json:"result"`
		Warnings []spec.Warning `json:"warnings"`
		DryRun   *v1.DryRun     `json:"dryRun"`
	}
	var properties struct {
		State       scheduler.State   `json:"state"`
		PausedUntil time.Time         `json:"pausedUntil"`
		Labels      map[string]string `json:"labels"`
		Status      struct {
			v1.Status

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
	return collectionPath(k.Collection) + "/jobs/" + url.PathEscape(k.Job)
}

// PutOptions are the options of a put or patch.
type PutOptions struct {
	Strict bool // refuse the edit if it causes warnings
	DryRun bool // check the edit and store nothing

	// IfMatch is the [Job] ETag of the definition to be replaced. If the definition has changed or is missing, nothing
	// is stored, and the error matches ErrPrecondition. Default: replace any definition.
	IfMatch string
	OnlyNew bool // fail in the same way if the job exists
}

// headers returns the options that are headers.
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

// query returns the options as a query with its question mark.
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

// Put creates a job or replaces its definition, as its Result reports.
func (c *Client) Put(ctx context.Context, k scheduler.Key, body []byte, o PutOptions) (*Job, error) {
	return ask[Job](ctx, c, http.MethodPut, jobPath(k)+o.query(), body, o.headers()...)
}

// Patch merges a document into a job's definition (RFC 7396): absent fields stay, and null removes a field.
func (c *Client) Patch(ctx context.Context, k scheduler.Key, body []byte, o PutOptions) (*Job, error) {
	return ask[Job](ctx, c, http.MethodPatch, jobPath(k)+o.query(), body, o.headers()...)
}

// Get returns a job.
func (c *Client) Get(ctx context.Context, k scheduler.Key) (*Job, error) {
	return ask[Job](ctx, c, http.MethodGet, jobPath(k), nil)
}

// Run starts a manual run and returns the id of the occurrence.
func (c *Client) Run(ctx context.Context, k scheduler.Key) (occurrence string, err error) {
	return c.RunWith(ctx, k, nil)
}

// RunWith is [Client.Run] with values for the job's templates: a JSON object, nil for none. The history shows them.
func (c *Client) RunWith(ctx context.Context, k scheduler.Key, data json.RawMessage) (occurrence string, err error) {
	var body []byte
	if data != nil {
		if body, err = json.Marshal(map[string]json.RawMessage{"data": data}); err != nil {
			return "", fmt.Errorf("data: %w", err)
		}
	}
	var started v1.StartedRun
	_, err = c.call(ctx, http.MethodPost, jobPath(k)+"/run", body, &started)
	return started.Occurrence, err
}

// Resubmit repeats an occurrence of a job as a manual run. force repeats a successful one, too.
func (c *Client) Resubmit(ctx context.Context, k scheduler.Key, occurrence string, force bool) (*v1.Resubmitted, error) {
	return send[v1.Resubmitted](ctx, c, jobPath(k)+"/resubmit", v1.ResubmitRequest{Occurrence: occurrence, Force: force})
}

// Enable resumes a disabled or paused job. The Result of the returned job reports whether the job changed.
func (c *Client) Enable(ctx context.Context, k scheduler.Key) (*Job, error) {
	return ask[Job](ctx, c, http.MethodPost, jobPath(k)+"/enable", nil)
}

// Disable stops a job until it is enabled. It returns the job as [Client.Enable] does.
func (c *Client) Disable(ctx context.Context, k scheduler.Key) (*Job, error) {
	return ask[Job](ctx, c, http.MethodPost, jobPath(k)+"/disable", nil)
}

// Pause stops a job until a time, then the job resumes automatically. until is an RFC 3339 time or, on the job's clock,
// 2h, 9:00, "tomorrow 9:00" and the like. Pause returns the job. Enable ends a pause.
func (c *Client) Pause(ctx context.Context, k scheduler.Key, until string) (*Job, error) {
	return send[Job](ctx, c, jobPath(k)+"/pause", v1.PauseRequest{Until: until})
}

// Cancel ends the active occurrences of a job: it cancels attempts in flight and prevents retries. The error is a
// [scheduler.ErrConflict] if the job has no active occurrence.
func (c *Client) Cancel(ctx context.Context, k scheduler.Key, req v1.CancelRequest) (*v1.Cancellation, error) {
	return send[v1.Cancellation](ctx, c, jobPath(k)+"/cancel", req)
}

// CancelCollection is [Client.Cancel] for all jobs of a collection. It succeeds even if none has an active occurrence.
func (c *Client) CancelCollection(ctx context.Context, name string, req v1.CancelRequest) (*v1.Cancellation, error) {
	return send[v1.Cancellation](ctx, c, collectionPath(name)+"/cancel", req)
}

// send posts a document, nil for none, and decodes the answer.
func send[T any](ctx context.Context, c *Client, path string, document any) (*T, error) {
	var body []byte
	if document != nil {
		var err error
		if body, err = json.Marshal(document); err != nil {
			return nil, err
		}
	}
	return ask[T](ctx, c, http.MethodPost, path, body)
}

// tryTimeout exceeds the duration of a test run: a minute, plus some seconds in the queue behind other requests of the
// caller.
const tryTimeout = 5 * time.Minute

// Try executes one attempt of a job and returns its result. body is the job's document; if it is empty, Try uses the
// stored job. A failed attempt is not an error. The body {"data": {…}} passes data to the stored job, as
// [Client.RunWith] does.
func (c *Client) Try(ctx context.Context, k scheduler.Key, body []byte) (*v1.Trial, error) {
	p, done := c.patient()
	defer done()
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	return ask[v1.Trial](ctx, p, http.MethodPost, jobPath(k)+"/try", body)
}

// Delete deletes a job and its history.
func (c *Client) Delete(ctx context.Context, k scheduler.Key) error {
	return c.do(ctx, http.MethodDelete, jobPath(k))
}

// Doctor runs a consistency check of jobs and batons, and repairs the problems if fix is set.
func (c *Client) Doctor(ctx context.Context, fix bool) (*v1.AuditReport, error) {
	path := "/doctor"
	if fix {
		path += "?fix=true"
	}
	return ask[v1.AuditReport](ctx, c, http.MethodPost, path, nil)
}
