package events

import (
	"net/url"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// origin is a source of events.
type origin struct{ *v1.Source }

// Path returns the path of the source's page.
func (o origin) Path() string {
	return sourcesRoot + "/" + url.PathEscape(o.Key.Collection) + "/" + url.PathEscape(o.Key.Job)
}

// Events returns the URL of the list of its events.
func (o origin) Events() string {
	return frame.Address(root, nil, "collection", o.Key.Collection, "event", o.Key.Job)
}

// Problem returns the damage of the source, or its last error.
func (o origin) Problem() string {
	if o.Damage == "" && o.Status != nil {
		return o.Status.LastError
	}
	return o.Damage
}

// Lag returns the number of messages that wait at the broker, "" if it is unknown.
func (o origin) Lag() string {
	if o.Status == nil || o.Status.Lag == nil {
		return ""
	}
	return words.Number(*o.Status.Lag)
}

// sources answers with the sources that the caller may see.
func (r section) sources(c *frame.Request) error {
	all, err := r.service.Sources(c.Context(), "", auth.Sees(c.Context()))
	if err != nil {
		return err
	}
	lines := make([]origin, len(all))
	for i, one := range all {
		lines[i] = origin{one}
	}
	return c.Show(shown(c.Text("sources.title"), "sources-list", lines))
}

func sourceKey(c *frame.Request) scheduler.Key {
	return scheduler.Key{Collection: c.Request.PathValue("c"), Job: c.Request.PathValue("s")}
}

func (r section) source(c *frame.Request) error {
	v, err := r.service.Source(c.Context(), sourceKey(c))
	if err != nil {
		return err
	}
	s := struct {
		origin

		Document, URL string
		Operate       bool
	}{origin: origin{v}, Document: string(v.Settings().YAML()), Operate: c.May(auth.Operate, v.Key.Collection)}
	if v.Webhook != nil {
		s.URL = c.Server() + "/events/" + url.PathEscape(v.Key.Collection) + "/" + url.PathEscape(v.Key.Job)
	}
	return c.Show(shown(c.Text("sources.one", v.Key), "sources-one", s))
}

func (r section) turn(c *frame.Request, form url.Values) error {
	state := form.Get("state")
	if !slices.Contains([]string{string(scheduler.Enabled), string(scheduler.Disabled)}, state) {
		return scheduler.Invalid("state", "must be enabled or disabled")
	}
	v, err := r.service.PatchSource(c.Lasting(), sourceKey(c), []byte(`{"properties": {"state": "`+state+`"}}`))
	if err != nil {
		return err
	}
	return c.Done(c.Text("sources.did."+state), origin{v}.Path())
}
