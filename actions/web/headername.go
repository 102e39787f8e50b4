package web

import "github.com/carillon-sched/carillon/scheduler"

// The headers that the scheduler fills in, in canonical spelling.
const (
	headerKey         = "Idempotency-Key"
	headerTrace       = "Traceparent"
	headerTraceState  = "Tracestate"
	headerAttempt     = "X-Carillon-Attempt"
	headerRequestID   = "X-Ms-Client-Request-Id"
	headerTag         = "X-Ms-Execution-Tag"
	headerRegion      = "X-Ms-Scheduler-Execution-Region"
	headerExpected    = "X-Ms-Scheduler-Expected-Execution-Time"
	headerJob         = scheduler.JobHeader
	headerAgent       = "User-Agent"
	headerContentType = "Content-Type"
	headerHost        = "Host"

	headerAuthorization = "Authorization"
	headerCookie        = "Cookie"

	identityHeaders = 7 // those that differ from attempt to attempt
)
