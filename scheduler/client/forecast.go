package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler/forecast"
)

// ForecastQuery selects the period and jobs of a forecast.
type ForecastQuery struct {
	Collection string    // "": all collections
	From       time.Time // zero: now
	Hours      int
	Proposals  int // maximum number of proposals
}

// Forecast lists planned runs and their peaks.
type Forecast struct {
	forecast.Report

	Document json.RawMessage // the complete answer
}

// UnmarshalJSON decodes an answer.
func (f *Forecast) UnmarshalJSON(data []byte) error {
	f.Document = append(json.RawMessage(nil), data...)
	return json.Unmarshal(data, &f.Report)
}

// Forecast returns the planned runs, and proposals that flatten their peaks.
func (c *Client) Forecast(ctx context.Context, q ForecastQuery) (*Forecast, error) {
	v := url.Values{"hours": {strconv.Itoa(q.Hours)}, "proposals": {strconv.Itoa(q.Proposals)}}
	if q.Collection != "" {
		v.Set("collection", q.Collection)
	}
	if !q.From.IsZero() {
		v.Set("from", q.From.UTC().Format(time.RFC3339))
	}
	return ask[Forecast](ctx, c, http.MethodGet, "/forecast?"+v.Encode(), nil)
}
