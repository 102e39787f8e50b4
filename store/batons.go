package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/failover"
)

// Waiting returns the waiting baton of a slot. scheduler.ErrNotFound if none waits.
func (s *Store) Waiting(ctx context.Context, slot scheduler.Slot) (scheduler.Stored, error) {
	return s.lastBaton(ctx, slot, s.timerSubject(slot))
}

// Running returns the latest running baton of a slot. scheduler.ErrNotFound if none runs.
func (s *Store) Running(ctx context.Context, slot scheduler.Slot) (scheduler.Stored, error) {
	return s.lastBaton(ctx, slot, s.fireSubject(slot))
}

func (s *Store) lastBaton(ctx context.Context, slot scheduler.Slot, subject string) (scheduler.Stored, error) {
	m, err := s.timers[s.Lane(slot.Key)].GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return scheduler.Stored{}, translate(err)
	}
	return scheduler.Stored{Key: slot.Key, Revision: m.Sequence, Data: m.Data}, nil
}

// FindBatons calls found for the own batons of the jobs in keys, waiting or running, in no particular order. It takes
// one request per lane for up to 512 keys. The server answers from a single point in time, so it finds a baton that is
// being passed on in exactly one of its subjects.
func (s *Store) FindBatons(ctx context.Context, keys []scheduler.Key, found func(st scheduler.Stored, running bool)) error {
	subjects := make([][]string, s.lanes)
	for _, k := range keys {
		lane, slot := s.Lane(k), scheduler.Slot{Key: k}
		subjects[lane] = append(subjects[lane], s.timerSubject(slot), s.fireSubject(slot))
	}
	for lane, of := range subjects {
		if len(of) == 0 {
			continue
		}
		err := s.lastOf(ctx, s.cfg.stream(timersStream(lane)), of, 0, func(m *jetstream.RawStreamMsg) {
			if slot, ok := s.slotOf(m.Subject); ok {
				found(scheduler.Stored{Key: slot.Key, Revision: m.Sequence, Data: m.Data}, m.Subject == s.fireSubject(slot))
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// AnyBaton returns any baton of a job, waiting or running, own or detached, or nil.
func (s *Store) AnyBaton(ctx context.Context, k scheduler.Key) (*scheduler.Stored, error) {
	slot, filters := scheduler.Slot{Key: k}, []string{}
	for _, subject := range []string{s.timerSubject(slot), s.fireSubject(slot)} {
		filters = append(filters, subject, subject+".*")
	}
	var found *scheduler.Stored
	get := directRequest{Subjects: filters, Batch: 1}
	err := s.directGet(ctx, s.cfg.stream(timersStream(s.Lane(k))), get, get.Batch, func(m *jetstream.RawStreamMsg) bool {
		found = &scheduler.Stored{Key: k, Revision: m.Sequence, Data: m.Data}
		return false
	}, func(*nats.Msg) {})
	return found, err
}

// EachDetached calls found for the batons of a job's detached runs, waiting or running, in no particular order. It
// returns at most runningAtOnce batons.
func (s *Store) EachDetached(
	ctx context.Context, k scheduler.Key, found func(slot scheduler.Slot, st scheduler.Stored, running bool),
) error {
	own := scheduler.Slot{Key: k}
	get := directRequest{Subjects: []string{s.timerSubject(own) + ".*", s.fireSubject(own) + ".*"}, Batch: runningAtOnce}
	return s.directGet(ctx, s.cfg.stream(timersStream(s.Lane(k))), get, get.Batch, func(m *jetstream.RawStreamMsg) bool {
		if slot, ok := s.slotOf(m.Subject); ok {
			found(slot, scheduler.Stored{Key: k, Revision: m.Sequence, Data: m.Data}, m.Subject == s.fireSubject(slot))
		}
		return true
	}, func(*nats.Msg) {})
}

// FindDetached calls found for the batons of the jobs' detached runs, waiting or running, in no particular order. It
// takes one request per lane for up to 512 keys, or a few per job if the result is too large. A baton that is being
// passed on may be found twice.
func (s *Store) FindDetached(
	ctx context.Context, keys []scheduler.Key, found func(slot scheduler.Slot, st scheduler.Stored, running bool),
) error {
	of := make([][]scheduler.Key, s.lanes)
	for _, k := range keys {
		of[s.Lane(k)] = append(of[s.Lane(k)], k)
	}
	for lane, keys := range of {
		var filters []string
		for _, k := range keys {
			own := scheduler.Slot{Key: k}
			filters = append(filters, s.timerSubject(own)+".*", s.fireSubject(own)+".*")
		}
		err := s.lastMatching(ctx, s.cfg.stream(timersStream(lane)), filters, 0, multiMost, func(m *jetstream.RawStreamMsg) {
			if slot, ok := s.slotOf(m.Subject); ok {
				st := scheduler.Stored{Key: slot.Key, Revision: m.Sequence, Data: m.Data}
				found(slot, st, m.Subject == s.fireSubject(slot))
			}
		})
		if err == nil {
			continue
		}
		for _, k := range keys { // the result exceeds the server's limit for one request
			if err := s.walkDetached(ctx, k, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// walkDetached is FindDetached for a job that may have very many detached runs. It reads the running batons before and
// after the waiting ones, because a baton may move between the two.
func (s *Store) walkDetached(
	ctx context.Context, k scheduler.Key, found func(slot scheduler.Slot, st scheduler.Stored, running bool),
) error {
	own, stream := scheduler.Slot{Key: k}, s.cfg.stream(timersStream(s.Lane(k)))
	for _, subject := range []string{s.fireSubject(own), s.timerSubject(own), s.fireSubject(own)} {
		for from, all := uint64(1), false; !all; {
			messages, last, err := s.forward(ctx, stream, subject+".*", from, math.MaxUint64, multiMost)
			if err != nil {
				return err
			}
			for _, m := range messages {
				if slot, ok := s.slotOf(m.Subject); ok {
					found(slot, scheduler.Stored{Key: k, Revision: m.Sequence, Data: m.Data}, subject != s.timerSubject(own))
				}
				from = m.Sequence + 1
			}
			all = last || len(messages) == 0
		}
	}
	return nil
}

// Arm stores a baton that waits until at. waiting is the sequence of the waiting baton to replace, 0 for none.
// scheduler.ErrConflict if it does not match.
func (s *Store) Arm(ctx context.Context, slot scheduler.Slot, body []byte, at time.Time, waiting uint64) error {
	m := s.timer(slot, s.fireSubject(slot), body, at)
	setHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(waiting, 10))
	_, err := s.publish(ctx, m)
	return err
}

// Fire delivers a baton to the workers immediately. waiting is the sequence of the waiting baton that it replaces; the
// server cancels that one in the same step. If waiting is 0, no baton may be running. scheduler.ErrConflict if the
// condition does not hold.
func (s *Store) Fire(ctx context.Context, slot scheduler.Slot, body []byte, waiting uint64) error {
	m := s.message(s.fireSubject(slot), body)
	setHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(waiting, 10))
	if waiting != 0 {
		setHeader(m, jetstream.ScheduleNextHeader, "purge")
		setHeader(m, jetstream.SchedulerHeader, s.timerSubject(slot))
		setHeader(m, jetstream.ExpectedLastSubjSeqSubjHeader, s.timerSubject(slot))
	}
	_, err := s.publish(ctx, m)
	return err
}

// PassOn publishes the successor of the running baton with the given sequence. The successor waits until at, or runs
// immediately if at is zero. PassOn takes effect only while the running baton is the job's last one, so a worker that
// was overtaken by a redelivery changes nothing and gets scheduler.ErrConflict.
func (s *Store) PassOn(ctx context.Context, slot scheduler.Slot, body []byte, at time.Time, running uint64) error {
	var m *nats.Msg
	fire := s.fireSubject(slot)
	if at.IsZero() {
		m = s.message(fire, body)
	} else {
		m = s.timer(slot, fire, body, at)
		setHeader(m, jetstream.ExpectedLastSubjSeqSubjHeader, fire)
	}
	setHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(running, 10))
	_, err := s.publish(ctx, m)
	return err
}

// timer returns the message of a baton that waits until at and then moves to the subject fire.
func (s *Store) timer(slot scheduler.Slot, fire string, body []byte, at time.Time) *nats.Msg {
	m := s.message(s.timerSubject(slot), body)
	// The client library's option has a resolution of seconds.
	var due [48]byte
	setHeader(m, jetstream.ScheduleHeader, string(at.UTC().AppendFormat(append(due[:0], "@at "...), time.RFC3339Nano)))
	setHeader(m, jetstream.ScheduleTargetHeader, fire)
	return m
}

// Cancel removes the waiting baton with the given sequence: scheduler.ErrConflict if it no longer waits. If waiting is 0,
// Cancel removes any waiting baton and ignores a missing one.
func (s *Store) Cancel(ctx context.Context, slot scheduler.Slot, waiting uint64) error {
	removed, err := s.purge(ctx, s.Lane(slot.Key), s.timerSubject(slot), waiting)
	if err == nil && removed == 0 && waiting != 0 {
		return fmt.Errorf("%w: the waiting baton has moved", scheduler.ErrConflict)
	}
	return err
}

// purge removes the messages of a timer subject up to a sequence, 0 for all, and returns their number, which the client
// library does not report.
func (s *Store) purge(ctx context.Context, lane int, subject string, through uint64) (removed uint64, err error) {
	req := jetstream.StreamPurgeRequest{Subject: subject}
	if through != 0 {
		req.Sequence = through + 1
	}
	body, err := json.Marshal(req)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	m, err := s.nc.RequestWithContext(ctx, purgeSubject(s.cfg.stream(timersStream(lane))), body)
	if err != nil {
		return 0, translate(err)
	}
	var answer struct {
		Error  *jetstream.APIError `json:"error"`
		Purged uint64              `json:"purged"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return 0, translate(err)
	}
	if answer.Error != nil {
		return 0, translate(answer.Error)
	}
	return answer.Purged, nil
}

// Clear removes the job's batons that match of, waiting or running, detached runs included, and unreadable
// ones. If of is nil, it removes all.
func (s *Store) Clear(ctx context.Context, k scheduler.Key, of func(*scheduler.Baton) bool) error {
	slot := scheduler.Slot{Key: k}
	fire, timer := s.fireSubject(slot), s.timerSubject(slot)
	// Remove running batons first: without one, a worker cannot pass on. A timer may fire in between, so remove running
	// batons again.
	for _, subject := range []string{fire, timer, fire} {
		if err := s.clear(ctx, k, subject, of); err != nil {
			return err
		}
	}
	return nil
}

// clear removes batons of one subject individually. A purge of a fire subject would make the server treat earlier
// delivered batons of other jobs as acknowledged (consumer.purge, up to nats-server 2.15 at least); if their worker
// died, they would never be redelivered. Batons of a later job with the same name stay.
func (s *Store) clear(ctx context.Context, k scheduler.Key, subject string, of func(*scheduler.Baton) bool) error {
	get := directRequest{Subjects: []string{subject, subject + ".*"}, Batch: runningAtOnce}
	running := subject == s.fireSubject(scheduler.Slot{Key: k})
	for {
		var found []*jetstream.RawStreamMsg
		err := s.directGet(ctx, s.cfg.stream(timersStream(s.Lane(k))), get, get.Batch, func(m *jetstream.RawStreamMsg) bool {
			if b, err := scheduler.DecodeBaton(m.Data); err != nil || of == nil || of(&b) {
				found = append(found, m)
			}
			return true
		}, func(*nats.Msg) {})
		if err != nil {
			return err
		}
		removed := 0
		for _, m := range found {
			if running {
				err = s.timers[s.Lane(k)].DeleteMsg(ctx, m.Sequence)
			} else {
				err = s.timers[s.Lane(k)].Purge(ctx, jetstream.WithPurgeSubject(m.Subject), jetstream.WithPurgeSequence(m.Sequence+1))
			}
			switch {
			case err == nil:
				removed++
			case !errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful): // otherwise it has just been acknowledged
				return translate(err)
			}
		}
		if removed == 0 || !running && len(found) < runningAtOnce {
			return nil // a lagging replica may still return them
		}
	}
}

// runningAtOnce is the maximum number of running batons per request.
const runningAtOnce = 256

// EachBaton calls f for every slot of a lane that has a waiting or running baton. It calls f twice for a slot that has
// both, and possibly for one whose baton moves.
func (s *Store) EachBaton(ctx context.Context, lane int, f func(slot scheduler.Slot, waiting bool) error) error {
	timer, fire := s.cfg.Prefix+".timer."+strconv.Itoa(lane)+".", s.cfg.Prefix+".fire."+strconv.Itoa(lane)+"."
	l := listing{stream: s.timers[lane], filter: ">", whole: true}
	l.matches = func(subject string) bool {
		return strings.HasPrefix(subject, timer) || strings.HasPrefix(subject, fire)
	}
	return s.each(ctx, l, func(subject string) error {
		if slot, ok := s.slotOf(subject); ok {
			return f(slot, strings.HasPrefix(subject, timer))
		}
		return nil
	})
}

// strandedMost is the maximum number of stranded batons per check. Their number is limited by the acknowledgements in
// progress when a server was killed; the next check finds the rest.
const strandedMost = 256

// Stranded returns the running batons of a lane that the server counts as acknowledged but has not removed. They are
// below the consumer's ack floor, so the server never redelivers them. The result may include batons that are just
// being removed, but none that this process holds.
func (s *Store) Stranded(ctx context.Context, lane int) ([]scheduler.Stranded, error) {
	st := s.timers[lane]
	c, err := st.Consumer(ctx, workers)
	if err != nil {
		return nil, translate(err)
	}
	floor := c.CachedInfo().AckFloor.Stream
	if floor == 0 {
		return nil, nil
	}
	subjects := s.laneConsumer(lane, failover.AckWait).FilterSubject
	messages, _, err := s.forward(ctx, st.CachedInfo().Config.Name, subjects, 1, floor+1, strandedMost)
	if err != nil {
		return nil, err
	}
	var found []scheduler.Stranded
	for _, m := range messages {
		if slot, ok := s.slotOf(m.Subject); ok && !s.failover.Holds(st.CachedInfo().Config.Name, m.Sequence) {
			found = append(found, scheduler.Stranded{Slot: slot, Body: m.Data, Sequence: m.Sequence})
		}
	}
	return found, nil
}

// Discard removes a running baton by its sequence. It ignores a missing one.
func (s *Store) Discard(ctx context.Context, slot scheduler.Slot, sequence uint64) error {
	err := s.timers[s.Lane(slot.Key)].DeleteMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		if _, missing := s.timers[s.Lane(slot.Key)].GetMsg(ctx, sequence); errors.Is(missing, jetstream.ErrMsgNotFound) {
			return nil
		}
	}
	return translate(err)
}
