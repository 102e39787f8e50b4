package storagequeue

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/carillon-sched/carillon/actions/netreason"
)

// reason says in a few words why there is no answer, or only a part of one. It shows no URL, which has the token in it.
func (x *exchange) reason(ctx context.Context) string {
	text := netreason.Explain(ctx, x.err, x.timeout, time.Since(x.start))
	if dns, ok := errors.AsType[*net.DNSError](x.err); ok && dns.IsNotFound && ctx.Err() == nil {
		text += ". Hint: there may be no account of that name."
	}
	return text
}
