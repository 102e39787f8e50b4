package secrets

import (
	"context"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
)

// memory is a store of shared secrets and jobs.
type memory struct {
	scheduler.Bucket // for what is not asked here

	secrets  map[string]scheduler.Stored
	jobs     map[scheduler.Key]scheduler.Stored
	final    map[scheduler.Key]bool // as jobs were written
	fails    error
	overtake func() // called before each write; it may write itself
}

func newMemory() *memory {
	return &memory{
		secrets: map[string]scheduler.Stored{}, jobs: map[scheduler.Key]scheduler.Stored{},
		final: map[scheduler.Key]bool{}, overtake: func() {},
	}
}

// breaks leaves a shared secret that cannot be read.
func (m *memory) breaks(name string) {
	m.secrets[name] = scheduler.Stored{Key: scheduler.Key{Job: name}, Revision: 1, Data: []byte(`{"sealed`)}
}

func load[K comparable](m *memory, from map[K]scheduler.Stored, key K) (scheduler.Stored, error) {
	st, ok := from[key]
	if !ok && m.fails == nil {
		return st, scheduler.ErrNotFound
	}
	return st, m.fails
}

func (m *memory) Load(_ context.Context, name string) (scheduler.Stored, error) {
	return load(m, m.secrets, name)
}

func (m *memory) Save(_ context.Context, name string, data []byte, replaces uint64) (uint64, error) {
	m.overtake()
	if m.secrets[name].Revision != replaces {
		return 0, scheduler.ErrConflict
	}
	m.secrets[name] = scheduler.Stored{Key: scheduler.Key{Job: name}, Revision: replaces + 1, Data: data}
	return replaces + 1, m.fails
}

func (m *memory) Remove(_ context.Context, name string, revision uint64) error {
	m.overtake()
	if m.secrets[name].Revision != revision {
		return scheduler.ErrConflict
	}
	delete(m.secrets, name)
	return m.fails
}

func (m *memory) Each(_ context.Context, f func(scheduler.Stored) error) error {
	var names []string
	for name := range m.secrets {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := f(m.secrets[name]); err != nil {
			return err
		}
	}
	return m.fails
}

func (m *memory) Watch(ctx context.Context, ready func(), changed func(string, uint64, []byte)) error {
	for name, st := range m.secrets {
		changed(name, st.Revision, st.Data)
	}
	ready()
	<-ctx.Done()
	return nil
}

func (m *memory) EachJob(_ context.Context, _ string, f func(scheduler.Key) error) error {
	for k := range m.jobs {
		if err := f(k); err != nil {
			return err
		}
	}
	return m.fails
}

func (m *memory) LoadJob(_ context.Context, k scheduler.Key) (scheduler.Stored, error) {
	return load(m, m.jobs, k)
}

func (m *memory) LoadJobs(_ context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error {
	for _, k := range keys {
		if st, ok := m.jobs[k]; ok {
			each(st)
		}
	}
	return m.fails
}

func (m *memory) RewriteJob(
	_ context.Context, k scheduler.Key, data []byte, replaces uint64, final bool,
) (uint64, error) {
	m.overtake()
	if m.jobs[k].Revision != replaces {
		return 0, scheduler.ErrConflict
	}
	m.jobs[k], m.final[k] = scheduler.Stored{Key: k, Revision: replaces + 1, Data: data}, final
	return replaces + 1, m.fails
}
