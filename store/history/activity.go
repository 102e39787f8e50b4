package history

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
)

// The activity stream. Its subjects are below the prefix, where schedulers have publish permission in any case.
const (
	pulseStream = "PULSE"
	pulseAge    = 32 * 24 * time.Hour
)

// Activity stores the activity reports of all processes. It is safe for concurrent use.
type Activity struct{ conn *conn.Conn }

// NewActivity returns the activity reports on a connection. It does no I/O.
func NewActivity(c *conn.Conn) *Activity { return &Activity{conn: c} }

// Open opens the activity stream, and creates it if necessary. The stream is optional: without it, the console
// shows only the activity of its process.
func (s *Activity) Open(ctx context.Context) error {
	name := s.conn.Config.Stream(pulseStream)
	st, err := s.conn.JS.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		create := "$JS.API.STREAM.CREATE." + name
		if !s.conn.MayPublish(ctx, create) {
			s.DisableActivity("the NATS user may not publish to " + create)
			return nil
		}
		st, err = s.conn.CreateStream(ctx, jetstream.StreamConfig{
			Name: name, Description: "Carillon: what each scheduler has done of late, for the console",
			Subjects: []string{s.PulseSubject(">")}, MaxMsgsPerSubject: 1, MaxAge: pulseAge, Duplicates: time.Second,
			AllowDirect: true, AllowMsgTTL: true,
		})
	}
	if err == nil {
		err = unfitActivity(st.CachedInfo().Config)
	}
	if err == nil {
		s.extend(ctx, st)
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s.DisableActivity(err.Error())
		return nil
	}
	s.conn.ActivityStream = name
	return nil
}

// extend raises the retention of a stream of an earlier version, so that the console shows a month.
func (s *Activity) extend(ctx context.Context, st jetstream.Stream) {
	have := st.CachedInfo().Config
	if have.MaxAge == 0 || have.MaxAge >= pulseAge || !s.conn.MayPublish(ctx, "$JS.API.STREAM.UPDATE."+have.Name) {
		return
	}
	have.MaxAge = pulseAge
	s.conn.Adjust(ctx, st, have, "the console shows a shorter period: the retention of its stream cannot be raised")
}

// DisableActivity disables the activity stream.
func (s *Activity) DisableActivity(why string) {
	s.conn.ActivityStream = ""
	s.conn.Config.Logger.Warn("the activity stream is off: the console shows only the schedulers that serve it",
		"stream", s.conn.Config.Stream(pulseStream), "why", why)
}

// unfitActivity returns why an existing stream cannot be used.
func unfitActivity(have jetstream.StreamConfig) error {
	switch {
	case have.MaxMsgsPerSubject != 1:
		return fmt.Errorf("it keeps %d messages of a subject, and not one (max_msgs_per_subject)", have.MaxMsgsPerSubject)
	case !have.AllowDirect || !have.AllowMsgTTL:
		return errors.New("it does not allow direct get, or a time to live of a message (allow_direct, allow_msg_ttl)")
	}
	return nil
}

// PulseSubject returns the subject of a report.
func (s *Activity) PulseSubject(name string) string { return s.conn.Config.Prefix + ".pulse." + name }

// PublishActivity stores an activity report under a name (subject tokens) and replaces the previous one. The report expires
// after lasts, at most 32 days. scheduler.ErrUnavailable without an activity stream.
func (s *Activity) PublishActivity(ctx context.Context, name string, data []byte, lasts time.Duration) error {
	if s.conn.ActivityStream == "" {
		return fmt.Errorf("%w: there is no stream %s", scheduler.ErrUnavailable, s.conn.Config.Stream(pulseStream))
	}
	m := s.conn.Message(s.PulseSubject(name), data)
	if lasts < pulseAge {
		conn.SetHeader(m, jetstream.MsgTTLHeader, strconv.Itoa(int(max(lasts, time.Second)/time.Second))+"s")
	}
	_, err := s.conn.Publish(ctx, m)
	return err
}

// pulseBatch is the number of reports per request.
const pulseBatch = 512

// ReadActivity calls f for the activity reports after a sequence (0: all), in order. It returns the sequence to continue
// from. Without an activity stream, it returns no reports.
func (s *Activity) ReadActivity(ctx context.Context, after uint64, f func(name string, data []byte)) (upTo uint64, err error) {
	if s.conn.ActivityStream == "" {
		return 0, nil
	}
	prefix := s.PulseSubject("")
	get := conn.DirectRequest{From: after + 1, Batch: pulseBatch}
	err = s.conn.Onward(ctx, s.conn.ActivityStream, get, func(m *jetstream.RawStreamMsg) bool {
		after = m.Sequence
		if name, ok := strings.CutPrefix(m.Subject, prefix); ok && len(m.Data) > 0 {
			f(name, m.Data)
		}
		return true
	})
	return after, err
}
