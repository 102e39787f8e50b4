package web

import (
	"context"
	"time"

	"github.com/carillon-sched/carillon/actions/netreason"
)

// reason says in a few words why a request got no answer, or only a part of
// one. ctx is the attempt's context and elapsed the time since its start.
func reason(ctx context.Context, err error, timeout, elapsed time.Duration) string {
	if text := netreason.Ended(ctx, "", timeout, elapsed); text != "" {
		return text
	}
	return netreason.Reason(err)
}
