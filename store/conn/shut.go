package conn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
)

// Shut describes a stream, possibly of a bucket, that is read-only or idle. A NATS server makes a stream read-only when
// a write fails, for example on a full disk. The stream stays read-only until the server restarts, even if space
// becomes free.
type Shut struct {
	Stream string // name of the stream
	Reason string // in the server's words if Reported

	// Idle means that the stream accepts writes but delivers no messages: its consumer has no leader or does not exist.
	Idle bool

	// Reported means that the server reports the failure, so waiting does not help. A stream that only does not answer may
	// be electing a leader.
	Reported bool
}

// String returns the problem for display: "stream CARILLON_HISTORY: no space left on device".
func (s Shut) String() string { return "stream " + s.Stream + ": " + s.Reason }

// Limits of a [Conn.Check].
const (
	checkTimeout = 2 * time.Second
	CheckAtOnce  = 64
)

// Settings that a check writes: presentKey by processes with presence, writtenKey by processes whose NATS user may not
// use it, to let the others know (see package failover).
const (
	presentKey = "present"
	writtenKey = "written"
)

// Reasons for streams that only their cluster affects.
const (
	noAnswer   = "it does not answer"
	noLeader   = "it has no leader: half of the NATS servers that hold it, or more, are away, or they are choosing one"
	leaderless = "the NATS cluster has no leader: half of its servers, or more, are away, or they are choosing one"
)

// Check returns the read-only and idle streams. It sends one request per stream and writes one setting, which detects a
// full disk while nothing else is written. The requests purge a subject without messages: this changes nothing, and a
// read-only stream refuses it. Without a connection, Check returns [scheduler.ErrUnavailable].
func (s *Conn) Check(ctx context.Context) (Shuts, error) {
	var (
		mu   sync.Mutex
		shut Shuts
		g    errgroup.Group
	)
	s.askClock(ctx)
	written := s.checkWrite(ctx)
	g.SetLimit(CheckAtOnce)
	check := func(find func() *Shut) {
		g.Go(func() error {
			found := find()
			mu.Lock()
			defer mu.Unlock()
			if found != nil {
				shut = append(shut, *found)
			}
			return nil
		})
	}
	for _, stream := range s.Opened {
		if _, unasked := s.Unasked.Load(stream); !unasked {
			check(func() *Shut { return s.checkStream(ctx, stream) })
		}
	}
	for _, q := range s.queues {
		check(func() *Shut { return s.checkQueue(ctx, q) })
	}
	_ = g.Wait() // problems are collected in shut
	shut = s.sift(ctx, shut)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !s.NC.IsConnected():
		return nil, &translated{scheduler.ErrUnavailable, nats.ErrConnectionReconnecting}
	}
	settings := "KV_" + s.Config.Bucket("settings")
	if written != nil && !slices.ContainsFunc(shut, func(f Shut) bool { return f.Stream == settings }) {
		shut = append(shut, Shut{Stream: settings, Reason: refusal(written)})
	}
	slices.SortStableFunc(shut, func(a, b Shut) int { return slices.Index(s.Opened, a.Stream) - slices.Index(s.Opened, b.Stream) })
	s.shut.Store(&shut)
	return shut, nil
}

// checkWrite writes a setting.
func (s *Conn) checkWrite(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	key := writtenKey
	if s.Failover.Announces() {
		key = presentKey
	}
	_, err := s.Settings.Put(ctx, key, strconv.AppendInt(nil, time.Now().Unix(), 10))
	return err
}

// checkStream purges an unused subject of a stream.
func (s *Conn) checkStream(ctx context.Context, stream string) *Shut {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	subject := PurgeSubject(stream)
	err := s.Ask(ctx, subject, jetstream.StreamPurgeRequest{Subject: s.Config.Prefix + ".check"}, &struct{}{})
	api, told := errors.AsType[*jetstream.APIError](err)
	switch {
	case err == nil:
		return nil
	case told && api.ErrorCode == errNoLeader:
		return &Shut{Stream: stream, Reason: noLeader}
	case told:
		return &Shut{Stream: stream, Reason: api.Description, Reported: !slices.Contains(forming, api.ErrorCode)}
	case s.Forbidden(subject):
		s.Unasked.Store(stream, true)
		return nil
	}
	return &Shut{Stream: stream, Reason: refusal(err)}
}

// checkQueue checks that a queue has a consumer with a leader.
func (s *Conn) checkQueue(ctx context.Context, q queue) *Shut {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	stream := q.stream.CachedInfo().Config.Name
	_, err := q.stream.Consumer(ctx, Workers)
	api, told := errors.AsType[*jetstream.APIError](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		return &Shut{Stream: stream, Idle: true, Reason: "its consumer " + Workers + " is gone"}
	case told && api.ErrorCode == errNoLeader:
		return &Shut{Stream: stream, Idle: true, Reason: noLeader}
	}
	return &Shut{Stream: stream, Idle: true, Reason: refusal(err)}
}

// sift removes consumers whose streams are listed already. If streams only do not answer or have no leader, it checks
// whether the whole cluster is the cause.
func (s *Conn) sift(ctx context.Context, shut Shuts) Shuts {
	shut = slices.DeleteFunc(shut, func(found Shut) bool {
		return found.Idle && slices.ContainsFunc(shut, func(other Shut) bool { return !other.Idle && other.Stream == found.Stream })
	})
	if len(shut) == 0 || slices.ContainsFunc(shut, func(found Shut) bool { return found.Reported }) {
		return shut
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	_, err := s.JS.AccountInfo(ctx)
	if api, told := errors.AsType[*jetstream.APIError](err); told && api.ErrorCode == errNoLeader {
		for i := range shut {
			shut[i].Reason = leaderless
		}
	}
	return shut
}

// Forbidden reports whether the NATS user may not use a subject. The server reports a violation separately from any
// answer.
func (s *Conn) Forbidden(subject string) bool {
	err := s.NC.LastError()
	return errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), strconv.Quote(subject))
}

// refusal returns a short reason for a failed request.
func refusal(err error) string {
	switch {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse):
		return "JetStream is off, or is just starting"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return noAnswer
	}
	return err.Error()
}

// PurgeSubject returns the subject of requests that purge a stream.
func PurgeSubject(stream string) string { return "$JS.API.STREAM.PURGE." + stream }

// Suspicions receives a value when a write was not acknowledged in time, as a hint to run [Conn.Check].
func (s *Conn) Suspicions() <-chan struct{} { return s.suspicions }

// suspect sends on Suspicions if a write timed out or the server could not store it. It adds the result of the last
// check to the error.
func (s *Conn) suspect(err error) error {
	api, told := errors.AsType[*jetstream.APIError](err)
	unwritten := told && api.Code >= http.StatusInternalServerError && !slices.Contains(forming, api.ErrorCode)
	if !unwritten && !errors.Is(err, jetstream.ErrAsyncPublishTimeout) {
		return err
	}
	select {
	case s.suspicions <- struct{}{}:
	default:
	}
	found := s.shut.Load()
	if found == nil {
		return err
	}
	shut := slices.DeleteFunc(slices.Clone(*found), func(f Shut) bool { return f.Idle }) // idle streams accept writes
	if len(shut) == 0 {
		return err
	}
	return &explained{shut.Explain(s.Config.Restarts), err}
}

// Shuts are the streams that a check found read-only or idle. It is empty if all are healthy.
type Shuts []Shut

// Explain returns the problem, its cause and the fix in one sentence. restarts states that this process restarts the
// server itself.
func (s Shuts) Explain(restarts bool) string {
	return s.Problem() + ": " + s.Reason() + "; " + s.Advice(restarts)
}

// Problem returns the problem: "no writes are accepted by streams A, B and 3 more".
func (s Shuts) Problem() string {
	if i := slices.IndexFunc(s, func(found Shut) bool { return !found.Idle }); i < 0 {
		return "no process receives due batons in " + s.Streams()
	}
	return "no writes are accepted by " + s.Streams()
}

// mostNamed is the maximum number of named streams.
const mostNamed = 4

// Streams returns the names of the streams: "streams A, B and 3 more".
func (s Shuts) Streams() string {
	names := make([]string, 0, mostNamed)
	for _, found := range s[:min(len(s), mostNamed)] {
		names = append(names, found.Stream)
	}
	text := strings.Join(names, ", ")
	if more := len(s) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if len(s) == 1 {
		return "stream " + text
	}
	return "streams " + text
}

// Reason returns the cause, preferably as reported by a server.
func (s Shuts) Reason() string {
	i := max(0, slices.IndexFunc(s, func(found Shut) bool { return found.Reported }))
	return s[i].Reason
}

// remedies maps reasons of servers to fixes.
var remedies = []struct{ reason, remedy string }{
	{noAnswer, "see whether the server hangs, and its log"},
	{"has no leader", "start the NATS servers that are away, and see their logs"},
	{"is gone", `restart a scheduler, which makes it again; "carillon docs recover" lists the losses`},
	{"stream not found", `restart the schedulers if it stays away: they make it again, and "carillon docs recover" lists the losses`},
	{"JetStream is off", "start the server with JetStream, and see its log"},
	{"no space left", "free some space where the server keeps its data"},
	{"quota exceeded", "free some space where the server keeps its data"},
	{"not enough space", "free some space where the server keeps its data"},
	{"too many open files", "raise the server's limit of open files, or end clients that it does not need"},
	{"read-only file system", "make the file system writable where the server keeps its data"},
	{"permission denied", "let the server write to where it keeps its data"},
	{"insufficient resources", "free some space, or raise max_file_store in the server's configuration"},
	{"resources exceeded", "raise the limits of the account, or free some space"},
}

// remedyOf returns the fix for a reason, or "".
func remedyOf(reason string) string {
	for _, r := range remedies {
		if strings.Contains(reason, r.reason) {
			return r.remedy
		}
	}
	return ""
}

// Advice returns the fix. restarts states that this process restarts the server itself.
func (s Shuts) Advice(restarts bool) string {
	remedy := cmp.Or(remedyOf(s.Reason()), "see the log of the server")
	told := slices.ContainsFunc(s, func(found Shut) bool { return found.Reported })
	switch {
	case told && restarts:
		return remedy + "; the server is restarted then"
	case told:
		return remedy + ", and restart the server: it keeps the streams shut until then"
	}
	return remedy
}
