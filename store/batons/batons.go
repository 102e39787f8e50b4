package batons

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/failover"
)

// Waiting returns the waiting baton of a slot. scheduler.ErrNotFound if none waits.
func (s *Batons) Waiting(ctx context.Context, slot scheduler.BatonKey) (scheduler.Stored, error) {
	return s.lastBaton(ctx, slot, s.TimerSubject(slot))
}

// Running returns the latest running baton of a slot. scheduler.ErrNotFound if none runs.
func (s *Batons) Running(ctx context.Context, slot scheduler.BatonKey) (scheduler.Stored, error) {
	return s.lastBaton(ctx, slot, s.FireSubject(slot))
}

func (s *Batons) lastBaton(ctx context.Context, slot scheduler.BatonKey, subject string) (scheduler.Stored, error) {
	m, err := s.timers[s.Lane(slot.Key)].GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return scheduler.Stored{}, conn.Translate(err)
	}
	return stored(slot.Key, m), nil
}

// stored returns a baton's message. A schedule that is not one of ours has no FiresAt.
func stored(k scheduler.Key, m *jetstream.RawStreamMsg) scheduler.Stored {
	st := scheduler.Stored{Key: k, Revision: m.Sequence, Data: m.Data}
	if at, ok := strings.CutPrefix(m.Header.Get(jetstream.ScheduleHeader), scheduleAt); ok {
		st.FiresAt, _ = time.Parse(time.RFC3339Nano, at)
	}
	return st
}

// scheduleAt precedes the time in the header of a message with a schedule.
const scheduleAt = "@at "

// FindBatons is [Batons.FindSlots] for the own batons of jobs.
func (s *Batons) FindBatons(ctx context.Context, keys []scheduler.Key, found func(st scheduler.Stored, running bool)) error {
	slots := make([]scheduler.BatonKey, len(keys))
	for i, k := range keys {
		slots[i].Key = k
	}
	return s.FindSlots(ctx, slots, func(_ scheduler.BatonKey, st scheduler.Stored, running bool) { found(st, running) })
}

// FindSlots calls found for the batons of slots, waiting or running, in no particular order. It takes one request per
// lane for up to 512 slots. The server answers from a single point in time, so it finds a baton that is being passed on
// in exactly one of its subjects.
func (s *Batons) FindSlots(ctx context.Context, slots []scheduler.BatonKey, found scheduler.FoundBaton) error {
	subjects := make([][]string, s.lanes)
	for _, slot := range slots {
		lane := s.Lane(slot.Key)
		subjects[lane] = append(subjects[lane], s.TimerSubject(slot), s.FireSubject(slot))
	}
	for lane, of := range subjects {
		if len(of) == 0 {
			continue
		}
		err := s.conn.LastOf(ctx, s.stream(lane), of, func(m *jetstream.RawStreamMsg) {
			if slot, ok := s.slotOf(m.Subject); ok {
				found(slot, stored(slot.Key, m), m.Subject == s.FireSubject(slot))
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// FindDetached calls found for the batons of the jobs' detached runs, waiting or running, in no particular order. It
// takes one request per lane for up to 512 keys, or a few per job if the result is too large. A baton that is being
// passed on may be found twice.
func (s *Batons) FindDetached(ctx context.Context, keys []scheduler.Key, found scheduler.FoundBaton) error {
	of := make([][]scheduler.Key, s.lanes)
	for _, k := range keys {
		of[s.Lane(k)] = append(of[s.Lane(k)], k)
	}
	for lane, keys := range of {
		if s.findDetached(ctx, lane, keys, found) == nil {
			continue
		}
		for _, k := range keys { // the result exceeds the server's limit for one request
			if err := s.walkDetached(ctx, k, math.MaxInt, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// SomeDetached is FindDetached for a job that may have very many detached runs: it finds at most 1024, running ones
// first.
func (s *Batons) SomeDetached(ctx context.Context, k scheduler.Key, found scheduler.FoundBaton) error {
	if s.findDetached(ctx, s.Lane(k), []scheduler.Key{k}, found) == nil {
		return nil
	}
	return s.walkDetached(ctx, k, conn.MultiMost, found)
}

// findDetached is FindDetached for jobs of a lane, in one request.
func (s *Batons) findDetached(ctx context.Context, lane int, keys []scheduler.Key, found scheduler.FoundBaton) error {
	var filters []string
	for _, k := range keys {
		own := scheduler.BatonKey{Key: k}
		filters = append(filters, s.TimerSubject(own)+".*", s.FireSubject(own)+".*")
	}
	return s.conn.LastMatching(ctx, s.stream(lane), filters, conn.MultiMost, func(m *jetstream.RawStreamMsg) {
		if slot, ok := s.slotOf(m.Subject); ok {
			st := scheduler.Stored{Key: slot.Key, Revision: m.Sequence, Data: m.Data}
			found(slot, st, m.Subject == s.FireSubject(slot))
		}
	})
}

// walkDetached is FindDetached for at most so many batons of a job. It reads the running batons before and after the
// waiting ones, because a baton may move between the two, and finds the last baton of each run.
func (s *Batons) walkDetached(ctx context.Context, k scheduler.Key, most int, found scheduler.FoundBaton) error {
	type place struct {
		stored  scheduler.Stored
		running bool
	}
	own, stream, last := scheduler.BatonKey{Key: k}, s.stream(s.Lane(k)), map[scheduler.BatonKey]place{}
	for _, subject := range []string{s.FireSubject(own), s.TimerSubject(own), s.FireSubject(own)} {
		get := conn.DirectRequest{Filter: subject + ".*", From: 1, Batch: conn.MultiMost}
		err := s.conn.Onward(ctx, stream, get, func(m *jetstream.RawStreamMsg) bool {
			if slot, ok := s.slotOf(m.Subject); ok && m.Sequence > last[slot].stored.Revision {
				last[slot] = place{scheduler.Stored{Key: k, Revision: m.Sequence, Data: m.Data}, subject != s.TimerSubject(own)}
			}
			return len(last) < most
		})
		if err != nil {
			return err
		}
		if len(last) >= most {
			break
		}
	}
	for slot, p := range last {
		found(slot, p.stored, p.running)
	}
	return nil
}

// ScheduleAt stores a baton that waits until at. waiting is the sequence of the waiting baton to replace, 0 for none.
// scheduler.ErrConflict if it does not match.
func (s *Batons) ScheduleAt(ctx context.Context, slot scheduler.BatonKey, body []byte, at time.Time, waiting uint64) error {
	m := s.timer(slot, s.FireSubject(slot), body, at)
	conn.SetHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(waiting, 10))
	_, err := s.conn.Publish(ctx, m)
	return err
}

// Fire delivers a baton to the workers immediately. waiting is the sequence of the waiting baton that it replaces; the
// server cancels that one in the same step. If waiting is 0, no baton may be running. scheduler.ErrConflict if the
// condition does not hold.
func (s *Batons) Fire(ctx context.Context, slot scheduler.BatonKey, body []byte, waiting uint64) error {
	m := s.conn.Message(s.FireSubject(slot), body)
	conn.SetHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(waiting, 10))
	if waiting != 0 {
		conn.SetHeader(m, jetstream.ScheduleNextHeader, "purge")
		conn.SetHeader(m, jetstream.SchedulerHeader, s.TimerSubject(slot))
		conn.SetHeader(m, jetstream.ExpectedLastSubjSeqSubjHeader, s.TimerSubject(slot))
	}
	_, err := s.conn.Publish(ctx, m)
	return err
}

// PublishOnce is Fire, or ScheduleAt if at is not zero, without a waiting baton. It does nothing if the lane has received a
// baton of the same id within two minutes, even in another slot.
func (s *Batons) PublishOnce(ctx context.Context, slot scheduler.BatonKey, body []byte, at time.Time, id string) error {
	fire := s.FireSubject(slot)
	m := s.conn.Message(fire, body)
	if !at.IsZero() {
		m = s.timer(slot, fire, body, at)
	}
	conn.SetHeader(m, jetstream.ExpectedLastSubjSeqHeader, "0")
	conn.SetHeader(m, jetstream.MsgIDHeader, id)
	_, err := s.conn.Publish(ctx, m)
	return err
}

// Reschedule publishes the successor of the running baton with the given sequence. The successor waits until at, or runs
// immediately if at is zero. Reschedule takes effect only while the running baton is the job's last one, so a worker that
// was overtaken by a redelivery changes nothing and gets scheduler.ErrConflict.
func (s *Batons) Reschedule(ctx context.Context, slot scheduler.BatonKey, body []byte, at time.Time, running uint64) error {
	var m *nats.Msg
	fire := s.FireSubject(slot)
	if at.IsZero() {
		m = s.conn.Message(fire, body)
	} else {
		m = s.timer(slot, fire, body, at)
		conn.SetHeader(m, jetstream.ExpectedLastSubjSeqSubjHeader, fire)
	}
	conn.SetHeader(m, jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(running, 10))
	_, err := s.conn.Publish(ctx, m)
	return err
}

// timer returns the message of a baton that waits until at and then moves to the subject fire.
func (s *Batons) timer(slot scheduler.BatonKey, fire string, body []byte, at time.Time) *nats.Msg {
	m := s.conn.Message(s.TimerSubject(slot), body)
	// The client library's option has a resolution of seconds.
	var due [48]byte
	conn.SetHeader(m, jetstream.ScheduleHeader, string(at.UTC().AppendFormat(append(due[:0], scheduleAt...), time.RFC3339Nano)))
	conn.SetHeader(m, jetstream.ScheduleTargetHeader, fire)
	return m
}

// Cancel removes the waiting baton with the given sequence: scheduler.ErrConflict if it no longer waits. If waiting is 0,
// Cancel removes any waiting baton and ignores a missing one.
func (s *Batons) Cancel(ctx context.Context, slot scheduler.BatonKey, waiting uint64) error {
	removed, err := s.purge(ctx, s.Lane(slot.Key), s.TimerSubject(slot), waiting)
	if err == nil && removed == 0 && waiting != 0 {
		return fmt.Errorf("%w: the waiting baton has moved", scheduler.ErrConflict)
	}
	return err
}

// purge removes the messages of a timer subject up to a sequence, 0 for all, and returns their number, which the client
// library does not report.
func (s *Batons) purge(ctx context.Context, lane int, subject string, through uint64) (removed uint64, err error) {
	req := jetstream.StreamPurgeRequest{Subject: subject}
	if through != 0 {
		req.Sequence = through + 1
	}
	ctx, cancel := context.WithTimeout(ctx, conn.PublishTimeout)
	defer cancel()
	var answer struct {
		Purged uint64 `json:"purged"`
	}
	err = s.conn.Ask(ctx, conn.PurgeSubject(s.stream(lane)), req, &answer)
	return answer.Purged, conn.Translate(err)
}

// Clear removes the job's batons that match of, waiting or running, detached runs included, and unreadable
// ones. If of is nil, it removes all. Batons of a later job with the same name stay.
//
// Clear looks again until it finds none, because a timer may fire in between. It removes running batons first: without
// one, a worker cannot pass on.
func (s *Batons) Clear(ctx context.Context, k scheduler.Key, of func(*scheduler.Baton) bool) error {
	for idle := 0; idle < clearLooks; {
		var running, waiting []placed
		add := func(slot scheduler.BatonKey, st scheduler.Stored, runs bool) {
			switch b, err := scheduler.DecodeBaton(st.Data); {
			case err == nil && of != nil && !of(&b):
			case runs:
				running = append(running, placed{slot, st.Revision})
			default:
				waiting = append(waiting, placed{slot, st.Revision})
			}
		}
		keys := []scheduler.Key{k}
		err := s.FindBatons(ctx, keys, func(st scheduler.Stored, runs bool) { add(scheduler.BatonKey{Key: k}, st, runs) })
		if err == nil {
			err = s.FindDetached(ctx, keys, add)
		}
		if err != nil || len(running)+len(waiting) == 0 {
			return err
		}
		removed, err := s.remove(ctx, s.Lane(k), running, waiting)
		if err != nil {
			return err
		}
		if removed == 0 {
			idle++
			failover.Pause(ctx, clearPause) // a lagging replica may still show what another process has removed
		}
	}
	return nil
}

// placed is a baton at a sequence.
type placed struct {
	slot     scheduler.BatonKey
	sequence uint64
}

// remove removes batons individually, and returns their number. A purge of a fire subject would make the server treat
// earlier delivered batons of other jobs as acknowledged (consumer.purge, up to nats-server 2.15 at least); if their
// worker died, they would never be redelivered.
func (s *Batons) remove(ctx context.Context, lane int, running, waiting []placed) (removed uint64, err error) {
	for _, b := range running {
		err := s.timers[lane].DeleteMsg(ctx, b.sequence)
		switch {
		case err == nil:
			removed++
		case !errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful): // otherwise it has just been acknowledged
			return removed, conn.Translate(err)
		}
	}
	for _, b := range waiting {
		n, err := s.purge(ctx, lane, s.TimerSubject(b.slot), b.sequence)
		if err != nil {
			return removed, err
		}
		removed += n
	}
	return removed, nil
}

// clearLooks is the maximum number of looks that remove no baton. A look may find a baton that moves before its removal;
// a lagging replica returns removed ones.
const clearLooks = 3

// clearPause is the time before a look that follows one without a removal.
const clearPause = 20 * time.Millisecond

// EachBaton calls f for every slot of a lane that has a waiting or running baton. It calls f twice for a slot that has
// both, and possibly for one whose baton moves.
func (s *Batons) EachBaton(ctx context.Context, lane int, f func(slot scheduler.BatonKey, waiting bool) error) error {
	timer, fire := s.conn.Config.Prefix+".timer."+strconv.Itoa(lane)+".", s.conn.Config.Prefix+".fire."+strconv.Itoa(lane)+"."
	l := conn.Listing{Stream: s.timers[lane], Filter: ">", Whole: true}
	return s.conn.Each(ctx, l, func(subject string) error {
		waiting := strings.HasPrefix(subject, timer)
		if slot, ok := s.slotOf(subject); ok && (waiting || strings.HasPrefix(subject, fire)) {
			return f(slot, waiting)
		}
		return nil
	})
}

// undeliveredMost is the maximum number of undelivered batons per check. Their number is limited by the acknowledgements in
// progress when a server was killed; the next check finds the rest.
const undeliveredMost = 256

// Undelivered returns the running batons of a lane that the server counts as acknowledged but has not removed. They are
// below the consumer's ack floor, so the server never redelivers them. The result may include batons that are just
// being removed, but none that this process holds.
func (s *Batons) Undelivered(ctx context.Context, lane int) ([]scheduler.UndeliveredBaton, error) {
	st := s.timers[lane]
	c, err := st.Consumer(ctx, conn.Workers)
	if err != nil {
		return nil, conn.Translate(err)
	}
	floor := c.CachedInfo().AckFloor.Stream
	if floor == 0 {
		return nil, nil
	}
	subjects := s.laneConsumer(lane, failover.AckWait).FilterSubject
	messages, _, err := s.conn.Forward(ctx, st.CachedInfo().Config.Name, subjects, 1, floor+1, undeliveredMost)
	if err != nil {
		return nil, err
	}
	var found []scheduler.UndeliveredBaton
	for _, m := range messages {
		if slot, ok := s.slotOf(m.Subject); ok && !s.conn.Failover.Holds(st.CachedInfo().Config.Name, m.Sequence) {
			found = append(found, scheduler.UndeliveredBaton{BatonKey: slot, Body: m.Data, Sequence: m.Sequence})
		}
	}
	return found, nil
}

// Discard removes a running baton by its sequence. It ignores a missing one.
func (s *Batons) Discard(ctx context.Context, slot scheduler.BatonKey, sequence uint64) error {
	st := s.timers[s.Lane(slot.Key)]
	return conn.Deleted(ctx, st, sequence, st.DeleteMsg(ctx, sequence))
}

// EachStoredBaton calls f for the batons in a lane after a sequence (0: all), waiting or running, in the order they were
// written, until f returns an error. A baton that is passed on in the meantime may be returned twice, or in its previous
// form.
func (s *Batons) EachStoredBaton(
	ctx context.Context, lane int, after uint64, f func(slot scheduler.BatonKey, st scheduler.Stored, waiting bool) error,
) error {
	info, err := s.timers[lane].Info(ctx)
	if err != nil || info.State.Msgs == 0 || after == info.State.LastSeq {
		return conn.Translate(err)
	}
	if after > info.State.LastSeq { // of a stream that was replaced
		after = 0
	}
	return s.conn.ReadMessages(ctx, info, after, func(m *jetstream.RawStreamMsg) error {
		slot, ok := s.slotOf(m.Subject)
		if !ok {
			return nil
		}
		return f(slot, scheduler.Stored{Key: slot.Key, Revision: m.Sequence, Data: m.Data}, m.Subject == s.TimerSubject(slot))
	})
}
