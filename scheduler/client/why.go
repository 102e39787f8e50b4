package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/explain"
)

// Account lists every instant of a job that was due in a period, with its record or the lack of one. The scheduler reads
// the bounds with [explain.ParseMoment]. If [explain.Account.Next] is set, the period exceeds one answer.
func (c *Client) Account(ctx context.Context, k scheduler.Key, from, to string) (*explain.Account, error) {
	return ask[explain.Account](ctx, c, http.MethodGet, jobPath(k)+"/account?"+url.Values{"from": {from}, "to": {to}}.Encode(), nil)
}

// Reasons explains why a job ran at a time, or did not.
type Reasons struct {
	explain.Answer

	Document json.RawMessage // the complete answer
}

// UnmarshalJSON decodes an answer.
func (r *Reasons) UnmarshalJSON(data []byte) error {
	r.Document = append(json.RawMessage(nil), data...)
	return json.Unmarshal(data, &r.Answer)
}

// Why explains why a job ran at a time, or did not. [explain.ParseMoment] defines the forms of at. Default: the latest
// instant that did not run, else the next one.
func (c *Client) Why(ctx context.Context, k scheduler.Key, at string) (*Reasons, error) {
	return ask[Reasons](ctx, c, http.MethodGet, jobPath(k)+"/why?"+url.Values{"at": {at}}.Encode(), nil)
}
