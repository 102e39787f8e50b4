package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// The activity stream. Its subjects are below the prefix, where schedulers have publish permission in any case.
const (
	pulseStream = "PULSE"
	pulseAge    = 25 * time.Hour
)

// openPulse opens the activity stream, and creates it if necessary. The stream is optional: without it, the console
// shows only the activity of its process.
func (s *Store) openPulse(ctx context.Context) error {
	name := s.cfg.stream(pulseStream)
	st, err := s.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		create := "$JS.API.STREAM.CREATE." + name
		if may, ok := s.permissions(ctx); ok && !may.publish(create) {
			s.noPulse("the NATS user may not publish to " + create)
			return nil
		}
		s.cfg.Progress(fmt.Sprintf("creating stream %s with %d replicas", name, s.replicas))
		st, err = s.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: name, Description: "Carillon: what each scheduler has done of late, for the console",
			Subjects: []string{s.pulseSubject(">")}, MaxMsgsPerSubject: 1, MaxAge: pulseAge, Duplicates: time.Second,
			AllowDirect: true, AllowMsgTTL: true, Replicas: s.replicas, Storage: s.cfg.Storage,
		})
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process has created it
			st, err = s.js.Stream(ctx, name)
		}
	}
	if err == nil {
		err = unfitPulse(st.CachedInfo().Config)
	}
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s.noPulse(err.Error())
		return nil
	}
	s.pulse = name
	return nil
}

// noPulse disables the activity stream.
func (s *Store) noPulse(why string) {
	s.pulse = ""
	s.cfg.Logger.Warn("what this scheduler does is not told to others, and the console shows no more than that",
		"stream", s.cfg.stream(pulseStream), "why", why)
}

// unfitPulse returns why an existing stream cannot be used.
func unfitPulse(have jetstream.StreamConfig) error {
	switch {
	case have.MaxMsgsPerSubject != 1:
		return fmt.Errorf("it keeps %d messages of a subject, and not one (max_msgs_per_subject)", have.MaxMsgsPerSubject)
	case !have.AllowDirect || !have.AllowMsgTTL:
		return errors.New("it does not allow direct get, or a time to live of a message (allow_direct, allow_msg_ttl)")
	}
	return nil
}

func (s *Store) pulseSubject(name string) string { return s.cfg.Prefix + ".pulse." + name }

// TellPulse stores an activity report under a name (subject tokens) and replaces the previous one. The report expires
// after lasts, at most 25 hours. scheduler.ErrUnavailable without an activity stream.
func (s *Store) TellPulse(ctx context.Context, name string, data []byte, lasts time.Duration) error {
	if s.pulse == "" {
		return fmt.Errorf("%w: there is no stream %s", scheduler.ErrUnavailable, s.cfg.stream(pulseStream))
	}
	m := s.message(s.pulseSubject(name), data)
	if lasts < pulseAge {
		setHeader(m, jetstream.MsgTTLHeader, strconv.Itoa(int(max(lasts, time.Second)/time.Second))+"s")
	}
	_, err := s.publish(ctx, m)
	return err
}

// pulseBatch is the number of reports per request.
const pulseBatch = 512

// ReadPulse calls f for the activity reports after a sequence (0: all), in order. It returns the sequence to continue
// from. Without an activity stream, it returns no reports.
func (s *Store) ReadPulse(ctx context.Context, after uint64, f func(name string, data []byte)) (upTo uint64, err error) {
	if s.pulse == "" {
		return 0, nil
	}
	prefix := s.pulseSubject("")
	for {
		found, all, err := s.forward(ctx, s.pulse, anySubject, after+1, after+1+1<<40, pulseBatch)
		if err != nil {
			return after, err
		}
		for _, m := range found {
			after = m.Sequence
			if name, ok := strings.CutPrefix(m.Subject, prefix); ok && len(m.Data) > 0 {
				f(name, m.Data)
			}
		}
		if all || len(found) == 0 {
			return after, nil
		}
	}
}
