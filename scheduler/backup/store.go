package backup

import (
	"context"

	"github.com/carillon-sched/carillon/scheduler"
)

// Store is what a backup is taken of, and what it is restored to. Package store implements it.
type Store interface {
	scheduler.Store

	// Tokens keeps access tokens, of which it has hashes.
	Tokens() scheduler.Bucket

	// FindDetached calls found for the batons of detached runs of jobs.
	FindDetached(ctx context.Context, keys []scheduler.Key, found func(slot scheduler.Slot, st scheduler.Stored, running bool)) error
}

// chunk is how many jobs are looked at together, and workers how many chunks at a time: the store answers some while others
// are read or written.
const (
	chunk   = 128
	workers = 4
)

// buckets are where what is no job lies.
func buckets(st Store, tokens bool) map[Kind]scheduler.Bucket {
	all := map[Kind]scheduler.Bucket{Collection: st.Collections(), Secret: st.Secrets()}
	if tokens {
		all[Token] = st.Tokens()
	}
	return all
}
