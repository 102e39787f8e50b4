package scheduler

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Sealer seals the secrets of a job's properties for the store and opens them
// again. Package secrets implements it.
type Sealer interface {
	// Seal returns the properties as they are stored. Secrets that could not be
	// opened go back as they came.
	Seal(k Key, properties document.Value) (document.Value, error)

	// Unseal opens the secrets of stored properties as far as there are keys.
	Unseal(k Key, properties document.Value) document.Value
}

// Bucket keeps values by name. They are written by compare-and-set. The name of a
// listed one is its Key.Job.
type Bucket interface { //nolint:interfacebloat // what a bucket can do
	Load(ctx context.Context, name string) (Stored, error)
	Save(ctx context.Context, name string, data []byte, replaces uint64) (uint64, error)
	Remove(ctx context.Context, name string, revision uint64) error
	Each(ctx context.Context, f func(Stored) error) error
	Watch(ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte)) error
}

// SplitStored cuts a stored job into what precedes the member properties and
// that member's value.
func SplitStored(data []byte) (head, properties []byte, err error) {
	head, rest, ok := bytes.Cut(data, []byte(propertiesMember))
	if !ok || len(rest) == 0 {
		return nil, nil, errors.New("properties: missing")
	}
	return head, rest[:len(rest)-1], nil
}

// JoinStored is the reverse of [SplitStored].
func JoinStored(head, properties []byte) []byte {
	return slices.Concat(head, []byte(propertiesMember), properties, []byte("}"))
}

// StoredState returns the state of a stored job without reading the rest of
// it, enabled when it cannot be read.
func StoredState(data []byte) State { return storedState(data) }

// MaxDescription is the most bytes that a description may have.
const MaxDescription = maxDescription

// ParseDocument parses the body of a request. The error matches [ErrInvalid]:
// the body is longer than [MaxJobSize], or it is no document.
func ParseDocument(body []byte) (document.Value, error) {
	if err := CheckSize(len(body)); err != nil {
		return document.Value{}, err
	}
	v, err := document.Parse(body)
	if err != nil {
		return v, AsInvalid(asProblems(err))
	}
	return v, nil
}
