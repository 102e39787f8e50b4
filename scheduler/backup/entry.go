package backup

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// Format is the file format version. The package reads and writes only this version.
const Format = 1

// Header describes the origin of a backup.
type Header struct {
	Format  int       `json:"carillonBackup"`    // [Format]
	Made    time.Time `json:"made"`              // start of the backup
	Version string    `json:"version,omitempty"` // of the program
	Prefix  string    `json:"prefix"`            // of the source store
	Lanes   int       `json:"lanes"`             // of the source store; a restore uses the target's own number
	Schema  int       `json:"schema"`            // of the source store
}

// Kind is the kind of an entry.
type Kind string

// The kinds of entries.
const (
	Collection Kind = "collection"
	Secret     Kind = "secret"
	Token      Kind = "token"
	Source     Kind = "source"
	Job        Kind = "job"
)

// Entry is one object in a backup.
type Entry struct {
	Kind Kind
	Name string // <collection>/<job> for a job, <collection>.<name> for a source
	Data []byte // as stored

	// For jobs: the batons (at most one is the job's own) and the last history records of an enabled job
	// without its own baton.
	Batons  []Baton
	Records []*scheduler.Record
}

// Baton is a baton in a backup.
type Baton struct {
	scheduler.Baton

	Detached string // name of the detached run; "": the job's own baton
	Running  bool   // a worker held it
}

// Key returns the key of a job entry.
func (e *Entry) Key() scheduler.Key {
	collection, job, _ := strings.Cut(e.Name, "/")
	return scheduler.Key{Collection: collection, Job: job}
}

// own returns the job's own baton, or nil.
func (e *Entry) own() *Baton {
	for i := range e.Batons {
		if e.Batons[i].Detached == "" {
			return &e.Batons[i]
		}
	}
	return nil
}

// progress returns the progress of a job that was enabled, from its own baton or else its last record. It returns nil
// without either.
func (e *Entry) progress() *scheduler.Progress {
	if own := e.own(); own != nil {
		return &own.Progress
	}
	if n := len(e.Records); n > 0 {
		return &e.Records[n-1].Progress
	}
	return nil
}

// maxValue exceeds the size of every stored value: jobs and collections have at most 16 KB, plus a small overhead.
const maxValue = 256 << 10

// check validates the entry's names, sizes and batons.
func (e *Entry) check() error {
	if len(e.Data) == 0 || len(e.Data) > maxValue {
		return fmt.Errorf("%s %s: its data are of %d bytes", e.Kind, e.Name, len(e.Data))
	}
	if e.Kind != Job {
		if len(e.Batons) > 0 || len(e.Records) > 0 {
			return fmt.Errorf("%s %s: only jobs have batons and records", e.Kind, e.Name)
		}
		return e.checkName()
	}
	if err := e.Key().Validate(); err != nil {
		return fmt.Errorf("job %q: %w", e.Name, err)
	}
	seen := map[string]bool{}
	for i := range e.Batons {
		b := &e.Batons[i]
		slot := scheduler.BatonKey{Key: e.Key(), Detached: b.Detached}
		if err := b.Check(slot); err != nil {
			return fmt.Errorf("job %s: %w", e.Name, err)
		}
		if b.Detached != "" && !b.Rides(b.Detached) {
			return fmt.Errorf("job %s: detached run %q: the name does not match the instant of its baton", e.Name, b.Detached)
		}
		if seen[b.Detached] {
			return fmt.Errorf("job %s: it has two batons of one name", e.Name)
		}
		seen[b.Detached] = true
	}
	return nil
}

// checkName validates the name of an entry that is not a job.
func (e *Entry) checkName() error {
	var err error
	switch e.Kind {
	case Collection:
		err = scheduler.ValidateCollection(e.Name)
	case Secret:
		err = scheduler.ValidateName("secret", e.Name)
	case Token:
		if strings.Trim(e.Name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || e.Name == "" || len(e.Name) > scheduler.MaxName {
			err = errors.New("is no id of a token")
		}
	case Source:
		_, err = source.StoredKey(e.Name)
	case Job:
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", e.Kind, e.Name, err)
	}
	return nil
}

// Counts holds the number of entries by kind.
type Counts struct {
	Collections int `json:"collections"`
	Secrets     int `json:"secrets"`
	Tokens      int `json:"tokens"`
	Sources     int `json:"sources,omitempty"`
	Jobs        int `json:"jobs"`
}

func (c *Counts) add(kind Kind) {
	switch kind {
	case Collection:
		c.Collections++
	case Secret:
		c.Secrets++
	case Token:
		c.Tokens++
	case Source:
		c.Sources++
	case Job:
		c.Jobs++
	}
}

// Summary holds the totals of a backup.
type Summary struct {
	Counts

	Batons  int      `json:"batons"`
	Keys    []string `json:"keys,omitempty"`    // ids of the keys that seal its secrets
	Omitted int      `json:"omitted,omitempty"` // damaged entries and batons that a partial backup omits
}

func (s *Summary) add(e *Entry) {
	s.Counts.add(e.Kind)
	s.Batons += len(e.Batons)
	if e.Kind == Secret || e.Kind == Job || e.Kind == Source {
		s.Keys = keysIn(e.Data, s.Keys)
	}
}
