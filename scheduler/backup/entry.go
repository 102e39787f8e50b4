package backup

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Format is the version of the file that this package writes, and the only one that it reads.
const Format = 1

// Header says where a backup comes from.
type Header struct {
	Format  int       `json:"carillonBackup"`    // [Format]
	Made    time.Time `json:"made"`              // when it was begun
	Version string    `json:"version,omitempty"` // of the program that made it
	Prefix  string    `json:"prefix"`            // of the store that it is of
	Lanes   int       `json:"lanes"`             // of that store; another one has its own
	Schema  int       `json:"schema"`            // the form of what is stored there
}

// Kind is what an entry is of.
type Kind string

// The kinds.
const (
	Collection Kind = "collection"
	Secret     Kind = "secret"
	Token      Kind = "token"
	Job        Kind = "job"
)

// Entry is one thing that a backup holds.
type Entry struct {
	Kind Kind
	Name string // collection/job for a job
	Data []byte // as it is stored

	// Of a job: its batons, of which one at most is its own, and the last records of its history when it is enabled and has
	// none of its own.
	Batons  []Baton
	Records []*scheduler.Record
}

// Baton is a baton in a backup.
type Baton struct {
	scheduler.Baton

	Detached string // the name of the detached run that it is of; "": the job's own
	Running  bool   // a worker had it
}

// Key names the job that an entry is of.
func (e *Entry) Key() scheduler.Key {
	collection, job, _ := strings.Cut(e.Name, "/")
	return scheduler.Key{Collection: collection, Job: job}
}

// own returns the job's own baton, nil when it has none.
func (e *Entry) own() *Baton {
	for i := range e.Batons {
		if e.Batons[i].Detached == "" {
			return &e.Batons[i]
		}
	}
	return nil
}

// progress is how far a job had got that was enabled: as its own baton says or, without one, its last record. Nil when
// neither does.
func (e *Entry) progress() *scheduler.Progress {
	if own := e.own(); own != nil {
		return &own.Progress
	}
	if n := len(e.Records); n > 0 {
		return &e.Records[n-1].Progress
	}
	return nil
}

// maxValue is more than any value of a store takes: jobs and collections have 16 KB, and what is stored of them is not much
// longer.
const maxValue = 256 << 10

// check says what about an entry cannot be: its name would not be the one of a thing, or a baton not ride where it says.
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
		slot := scheduler.Slot{Key: e.Key(), Detached: b.Detached}
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

// checkName checks the name of what is no job.
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
	case Job:
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", e.Kind, e.Name, err)
	}
	return nil
}

// Counts counts entries.
type Counts struct {
	Collections int `json:"collections"`
	Secrets     int `json:"secrets"`
	Tokens      int `json:"tokens"`
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
	case Job:
		c.Jobs++
	}
}

// Summary counts what a backup holds.
type Summary struct {
	Counts

	Batons  int      `json:"batons"`
	Keys    []string `json:"keys,omitempty"`    // the ids of the keys that seal the secrets in it
	Omitted int      `json:"omitted,omitempty"` // entries and batons that a partial backup lacks, as they were damaged
}

func (s *Summary) add(e *Entry) {
	s.Counts.add(e.Kind)
	s.Batons += len(e.Batons)
	if e.Kind == Secret || e.Kind == Job {
		s.Keys = keysIn(e.Data, s.Keys)
	}
}
