package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
)

// ManagerConfig configures a [Manager]. All fields without a default are required.
type ManagerConfig struct {
	// Vault holds the shared secrets and the keys.
	Vault *Vault

	// Jobs stores the jobs, to rotate their secrets and to find references.
	Jobs JobStore

	// Sources stores the sources of events, which have secrets and references like jobs. Default: none.
	Sources func() scheduler.Bucket

	// Refers reports whether a stored job refers to a shared secret; true if it cannot be determined. The manager calls
	// it for jobs that may still run and whose stored text suggests a reference.
	Refers func(st scheduler.Stored, name string) bool
}

// JobStore is the store of jobs as a manager needs it.
type JobStore interface {
	JobReader
	RewriteJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (uint64, error)
}

// JobReader reads stored jobs.
type JobReader interface {
	EachJob(ctx context.Context, collection string, f func(scheduler.Key) error) error
	LoadJob(ctx context.Context, k scheduler.Key) (scheduler.Stored, error)
	LoadJobs(ctx context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error
}

// Manager carries out user requests for shared secrets and for the keys of a store. It is safe for concurrent use.
type Manager struct {
	sources

	vault  *Vault
	jobs   JobStore
	refers func(st scheduler.Stored, name string) bool
}

// NewManager returns a manager. It does no I/O.
func NewManager(cfg ManagerConfig) *Manager {
	return &Manager{vault: cfg.Vault, jobs: cfg.Jobs, sources: sources{cfg.Sources}, refers: cfg.Refers}
}

// casTries is the maximum number of attempts of a compare-and-set write.
const casTries = 10

// Put sets a shared secret to the value in a document
//
//	{"value": "…", "description": "…"}
//
// and returns it without the value. created reports whether the secret is new. Jobs that refer to it use the new value
// from their next attempt.
//
// Errors: ErrInvalid with every problem, or if the process has no key.
func (m *Manager) Put(ctx context.Context, name string, body []byte) (shown *SharedSecret, created bool, err error) {
	if err := scheduler.ValidateName("secret", name); err != nil {
		return nil, false, err
	}
	next, err := m.vault.readShared(name, body)
	if err != nil {
		return nil, false, err
	}
	for range casTries {
		st, err := m.vault.store.Load(ctx, name)
		if err != nil && !errors.Is(err, scheduler.ErrNotFound) {
			return nil, false, fmt.Errorf("secret %s: %w", name, err)
		}
		next.Created = next.Updated
		if old, err := decodeShared(name, st.Data); err == nil && st.Revision > 0 {
			next.Created = old.Created
		}
		err = m.vault.save(ctx, next, st.Revision)
		if !errors.Is(err, scheduler.ErrConflict) {
			return next.shown(), st.Revision == 0, err
		}
	}
	err = fmt.Errorf("%w: %s; try again", scheduler.ErrConflict, overtaken)
	return nil, false, fmt.Errorf("secret %s: %w", name, err)
}

// List returns all shared secrets by name, without their values. An unreadable one carries its problem; you can set it
// again or delete it.
func (m *Manager) List(ctx context.Context) ([]*SharedSecret, error) {
	all := []*SharedSecret{}
	err := m.vault.store.Each(ctx, func(st scheduler.Stored) error {
		stored, err := decodeShared(st.Key.Job, st.Data)
		shown := stored.shown()
		if err != nil {
			shown.Problem = err.Error()
		}
		all = append(all, shown)
		return nil
	})
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, err
}

// Delete deletes a shared secret. It returns ErrNotFound for an unknown name, and ErrConflict if jobs that may still
// run refer to the secret. With force, Delete ignores references, and the attempts of these jobs then fail. The check
// may miss a job that is put at the same moment.
func (m *Manager) Delete(ctx context.Context, name string, force bool) error {
	if err := scheduler.ValidateName("secret", name); err != nil {
		return err
	}
	st, err := m.vault.store.Load(ctx, name)
	if err != nil {
		return fmt.Errorf("secret %s: %w", name, err)
	}
	if !force {
		if err := m.checkUnused(ctx, name); err != nil {
			return err
		}
	}
	if err := m.vault.store.Remove(ctx, name, st.Revision); err != nil {
		return fmt.Errorf("secret %s: %w", name, err)
	}
	return nil
}

// namedUsers is the maximum number of referring jobs that an error names.
const namedUsers = 5

// Users returns the jobs that may still run and the sources that refer to a shared secret, by name. It reads all jobs.
func (m *Manager) Users(ctx context.Context, name string) (users []string, err error) {
	var mu sync.Mutex
	mark := []byte(`"secretRef":"` + name + `"`) // its stored form
	err = m.scanJobs(ctx, func(_ context.Context, st scheduler.Stored) error {
		if !bytes.Contains(st.Data, mark) || scheduler.StoredState(st.Data).Final() || !m.refers(st, name) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		users = append(users, st.Key.String())
		return nil
	})
	if err == nil {
		err = m.eachSource(ctx, func(_ scheduler.Key, st scheduler.Stored) error {
			if bytes.Contains(st.Data, mark) {
				users = append(users, sourcePrefix+sourceName(st))
			}
			return nil
		})
	}
	sort.Strings(users)
	return users, err
}

// sourcePrefix precedes the name of a source in the result of [Manager.Users].
const sourcePrefix = "source "

// checkUnused returns ErrConflict if jobs refer to a shared secret.
func (m *Manager) checkUnused(ctx context.Context, name string) error {
	users, err := m.Users(ctx, name)
	if err != nil || len(users) == 0 {
		return err
	}
	kind := "jobs"
	if slices.ContainsFunc(users, func(user string) bool { return strings.HasPrefix(user, sourcePrefix) }) {
		kind = "jobs or sources"
	}
	named := strings.Join(users[:min(len(users), namedUsers)], ", ")
	if more := len(users) - namedUsers; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("secret %s: %w: %s refer to it: %s", name, scheduler.ErrConflict, kind, named)
}

// Limits of a scan of all jobs.
const (
	scanWorkers = 32
	scanChunk   = 128 // jobs in one request
)

// scanJobs calls f for every stored job, concurrently.
func (m *Manager) scanJobs(ctx context.Context, f func(context.Context, scheduler.Stored) error) error {
	var keys []scheduler.Key
	if err := m.jobs.EachJob(ctx, "", func(k scheduler.Key) error { keys = append(keys, k); return nil }); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(scanWorkers)
	for chunk := range slices.Chunk(keys, scanChunk) {
		g.Go(func() error {
			var found []scheduler.Stored
			err := m.jobs.LoadJobs(gctx, chunk, func(st scheduler.Stored) { found = append(found, st) })
			if err != nil {
				return err
			}
			for _, st := range found {
				if err := f(gctx, st); err != nil {
					return fmt.Errorf("job %s: %w", st.Key, err)
				}
			}
			return nil
		})
	}
	return g.Wait()
}
