package flow

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/semaphore"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// The limit of concurrent parsing per process, in bytes of documents: parsing may take a thousand times the size of a
// document in memory.
const (
	parsedAtOnce = 4 * scheduler.MaxJobSize
	leastParsed  = 256 // minimum size that a document counts as
)

// parsing admits documents. It is global, like the memory that it protects.
var parsing = semaphore.NewWeighted(parsedAtOnce)

// Parse is [scheduler.ParseDocument] with a limit on concurrent parsing. Callers wait in FIFO order. If ctx is done
// first, Parse returns its error.
func Parse(ctx context.Context, body []byte) (document.Value, error) {
	if err := scheduler.CheckSize(len(body)); err != nil {
		return document.Value{}, err
	}
	size := int64(max(len(body), leastParsed))
	if err := parsing.Acquire(ctx, size); err != nil {
		return document.Value{}, err
	}
	defer parsing.Release(size)
	return scheduler.ParseDocument(body)
}

// CheckNoDocument is [scheduler.CheckNoDocument] with the same limit.
func CheckNoDocument(ctx context.Context, body []byte) error {
	size := int64(min(max(len(body), leastParsed), parsedAtOnce))
	if err := parsing.Acquire(ctx, size); err != nil {
		return err
	}
	defer parsing.Release(size)
	return scheduler.CheckNoDocument(body)
}

// ErrTooLong is returned for input that exceeds its limit.
var ErrTooLong = errors.New("is longer")

// ReadAll reads untrusted input of up to most bytes. It rejects longer input and never truncates it.
func ReadAll(from io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("%w than %d bytes, the most that is read", ErrTooLong, most)
	}
	return data, err
}
