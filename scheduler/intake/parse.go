package intake

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// What is parsed at once in this process: in bytes of documents, so that few
// large ones, which may take a thousand times as much memory, are as many small
// ones.
const (
	parsedAtOnce = 4 * scheduler.MaxJobSize
	leastParsed  = 256 // bytes that a document counts for at least
)

// parsing is room for documents that are being parsed. It is the process's, as
// the memory is.
var parsing = semaphore.NewWeighted(parsedAtOnce)

// Parse is [scheduler.ParseDocument] when there is room for the document: who
// comes first is served first, and may give up with ctx, whose error is
// returned then.
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

// CheckNoDocument is [scheduler.CheckNoDocument] in the same way.
func CheckNoDocument(ctx context.Context, body []byte) error {
	size := int64(min(max(len(body), leastParsed), parsedAtOnce))
	if err := parsing.Acquire(ctx, size); err != nil {
		return err
	}
	defer parsing.Release(size)
	return scheduler.CheckNoDocument(body)
}
