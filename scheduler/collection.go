package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Collection is a group of jobs with common quotas.
type Collection struct {
	Name     string
	Revision uint64

	State            State           // enabled or disabled; a disabled collection postpones its jobs
	MaxJobCount      int             // 0: no limit
	MaxRecurrence    spec.Recurrence // the most often a job may recur; zero frequency: no limit
	MinRetryInterval time.Duration   // 0: the process's, 15 s by default

	Targets map[string]*TargetRule // by host, host and port, or "*" for each other target

	properties document.Value // canonical
	top        document.Value // location and tags, canonical
}

// storedCollection is a collection as it lies in the store.
type storedCollection struct {
	Top        json.RawMessage `json:"top"`
	Properties json.RawMessage `json:"properties"`
}

// defaultCollection is what the default collection is until someone puts it.
func defaultCollection() *Collection {
	return &Collection{
		Name: DefaultCollection, State: Enabled,
		properties: document.ObjectValue(), top: document.ObjectValue(),
	}
}

// readCollection reads a collection document.
func readCollection(name string, v document.Value) (*Collection, error) {
	r := document.NewReader()
	o := r.Object(v, "")
	o.Ignore("id", "type")
	if s, ok := o.String("name"); ok && s != name {
		o.Problem("name", "is %q, but the collection is called %q", s, name)
	}
	o.Ignore("location", "tags")
	_, _ = o.StringMap("tags")
	_, _ = o.String("location")
	c := &Collection{Name: name, State: Enabled, properties: document.ObjectValue()}
	if po, ok := o.Object("properties"); ok {
		c.readProperties(po)
		po.Done()
		p, _ := v.Member("properties")
		c.properties = p
	}
	o.Done()
	c.top = v.Only("location", "tags")
	return c, AsInvalid(r.Err())
}

func (c *Collection) readProperties(o *document.Object) {
	if s, ok := o.Enum("state", string(Enabled), string(Disabled), "suspended", "deleted"); ok {
		c.State = State(s)
		if c.State != Enabled && c.State != Disabled {
			o.Problem("state", "%q is set by the service; enabled and disabled may be asked for", s)
		}
	}
	if so, ok := o.Object("sku"); ok {
		_, _ = so.Enum("name", "Standard", "Free", "P10Premium", "P20Premium")
		so.Done()
	}
	if d, ok := exactDuration(o, "minRetryInterval", time.Millisecond, 24*time.Hour); ok {
		c.MinRetryInterval = d
	}
	c.Targets = readTargets(o)
	q, ok := o.Object("quota")
	if !ok {
		return
	}
	if n, ok := q.Int("maxJobCount", 1, 1<<31-1); ok {
		c.MaxJobCount = int(n)
	}
	_, _ = q.Int("maxJobOccurrence", 1, 1<<31-1) // accepted and without effect, as in Azure Scheduler
	if ro, ok := q.Object("maxRecurrence"); ok {
		c.MaxRecurrence = spec.ReadRecurrence(ro)
		if c.MaxRecurrence.Rule != nil {
			ro.Problem("", "a quota is told by frequency and interval")
		}
		ro.Done()
	}
	q.Done()
}

func (c *Collection) encode() ([]byte, error) {
	return json.Marshal(storedCollection{c.top.JSON(), c.properties.JSON()})
}

func decodeCollection(name string, revision uint64, data []byte) (*Collection, error) {
	var s storedCollection
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("stored collection %s: %w", name, err)
	}
	properties, err := document.Parse(s.Properties)
	if err != nil {
		return nil, fmt.Errorf("stored collection %s: %w", name, err)
	}
	v := document.ObjectValue(document.Member{Name: "properties", Value: properties})
	c, err := readCollection(name, v)
	if err != nil {
		return nil, fmt.Errorf("stored collection %s: %w", name, err)
	}
	if c.top, err = document.Parse(s.Top); err != nil {
		return nil, fmt.Errorf("stored collection %s: %w", name, err)
	}
	c.Revision = revision
	return c, nil
}

// Document returns the collection as users see it.
func (c *Collection) Document() document.Value {
	members := []document.Member{
		{Name: "id", Value: document.StringValue("/jobCollections/" + c.Name)},
		{Name: "type", Value: document.StringValue("Microsoft.Scheduler/jobCollections")},
		{Name: "name", Value: document.StringValue(c.Name)},
	}
	members = append(members, c.top.Members()...)
	properties := append([]document.Member{}, c.properties.Without("state").Members()...)
	properties = append(properties, document.Member{Name: "state", Value: document.StringValue(string(c.State))})
	return document.ObjectValue(append(members, document.Member{Name: "properties", Value: document.ObjectValue(properties...)})...)
}

// limits are what the collection allows its jobs, with the process's limits
// where it has none of its own.
func (c *Collection) limits(process Limits) Limits {
	if c.MinRetryInterval > 0 {
		process.MinRetryInterval = c.MinRetryInterval
	}
	return process
}

// collections knows every collection's current form: there are few, and every
// occurrence asks for one.
type collections struct {
	store CollectionLister
	load  CollectionStore
	mu    sync.RWMutex
	live  bool
	byID  map[string]*Collection
	seen  map[string]bool // named by this watch
}

func newCollections(store Store) *collections {
	return &collections{store: store, load: store, byID: map[string]*Collection{}, seen: map[string]bool{}}
}

// open reports whether the collection's jobs may run. One that is not known
// does not stop them.
func (c *collections) open(name string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	col := c.byID[name]
	return col == nil || col.State != Disabled
}

// get returns a collection, from the store unless the watch stands.
func (c *collections) get(ctx context.Context, name string) (*Collection, error) {
	c.mu.RLock()
	col, live := c.byID[name], c.live
	c.mu.RUnlock()
	if live && col != nil {
		return col, nil
	}
	st, err := c.load.LoadCollection(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("collection %s: %w", name, err)
	}
	return decodeCollection(name, st.Revision, st.Data)
}

// watch follows the changes of collections until ctx is done.
func (c *collections) watch(ctx context.Context, lost func(error)) {
	for ctx.Err() == nil {
		err := c.store.WatchCollections(ctx, c.told, c.changed)
		c.mu.Lock()
		c.live, c.seen = false, map[string]bool{}
		c.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		lost(err)
		pause(ctx, time.Second)
	}
}

// told is called when the watch has told everything that there is: what it has
// not named was deleted while there was no watch.
func (c *collections) told() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live = true
	maps.DeleteFunc(c.byID, func(name string, _ *Collection) bool { return !c.seen[name] })
}

func (c *collections) changed(name string, revision uint64, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, name)
	delete(c.seen, name)
	if data == nil {
		return
	}
	c.seen[name] = true
	if col, err := decodeCollection(name, revision, data); err == nil {
		c.byID[name] = col
	}
}
