package batons

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
)

// laneConsumer returns the consumer of a lane.
func (s *Batons) laneConsumer(lane int, wait time.Duration) jetstream.ConsumerConfig {
	return conn.SharedConsumer("Carillon: workers", s.conn.Config.Prefix+".fire."+strconv.Itoa(lane)+".>", wait)
}

// lanesKey is the settings key of the number of lanes.
const lanesKey = "lanes"

// LaneLoads returns the backlog of each lane.
func (s *Batons) LaneLoads(ctx context.Context) ([]scheduler.LaneLoad, error) {
	loads := make([]scheduler.LaneLoad, s.lanes)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(conn.CheckAtOnce)
	for lane := range loads {
		g.Go(func() (err error) {
			loads[lane], err = s.laneLoad(ctx, lane)
			return err
		})
	}
	return loads, conn.Translate(g.Wait())
}

// lanesThere counts the existing lane streams.
func (s *Batons) lanesThere(ctx context.Context) (n int, err error) {
	for n < conn.MaxLanes && err == nil {
		if _, err = s.conn.JS.Stream(ctx, s.stream(n)); err == nil {
			n++
		}
	}
	return n, conn.Translate(scheduler.Ignore(err, jetstream.ErrStreamNotFound))
}

// checkLanes refuses a configured number of lanes that differs from the stored one.
func (s *Batons) checkLanes() error {
	if s.conn.Config.Lanes != 0 && s.conn.Config.Lanes != s.lanes {
		return &conn.SettingError{Setting: "lanes", Conflict: true, Message: fmt.Sprintf(
			"%d was asked for, but this store was created with %d, which is fixed; leave the setting out or use %d",
			s.conn.Config.Lanes, s.lanes, s.lanes,
		)}
	}
	return nil
}

// TakeLanes reads the number of lanes, or writes it at the first start. Another process may write it first, and the
// cluster server that answers a read may lag.
func (s *Batons) TakeLanes(ctx context.Context) error {
	for {
		e, err := s.conn.Settings.Get(ctx, lanesKey)
		if err == nil {
			s.lanes, err = strconv.Atoi(string(e.Value()))
			if err != nil || s.lanes < 1 || s.lanes > conn.MaxLanes {
				return &conn.SettingError{Setting: "lanes", Message: fmt.Sprintf(
					"the stored value %q in bucket %s is not a number of lanes", e.Value(), s.conn.Config.Bucket("settings"),
				), Cause: err}
			}
			return s.checkLanes()
		}
		if !errors.Is(err, jetstream.ErrKeyNotFound) {
			return conn.Translate(err)
		}
		there, err := s.lanesThere(ctx)
		if err != nil {
			return err
		}
		s.lanes = max(1, s.conn.Config.Lanes)
		if there > 0 { // the lanes of an earlier start
			s.lanes = there
		}
		_, err = s.conn.Settings.Create(ctx, lanesKey, []byte(strconv.Itoa(s.lanes)))
		switch {
		case errors.Is(err, jetstream.ErrKeyExists):
			continue
		case err != nil:
			return conn.Translate(err)
		case there > 0:
			const lost = "the settings have lost the number of lanes; it is taken from the streams that are there"
			s.conn.Config.Logger.Error(lost, "lanes", there)
		}
		return s.checkLanes()
	}
}

func (s *Batons) laneLoad(ctx context.Context, lane int) (scheduler.LaneLoad, error) {
	consumer, err := s.timers[lane].Consumer(ctx, conn.Workers)
	if err != nil {
		return scheduler.LaneLoad{}, err
	}
	info, err := s.timers[lane].Info(ctx)
	if err != nil {
		return scheduler.LaneLoad{}, err
	}
	fired := consumer.CachedInfo()
	running := int(fired.NumPending) + fired.NumAckPending
	return scheduler.LaneLoad{
		Waiting: max(0, int(info.State.Msgs)-running), Running: running, Pending: int(fired.NumPending),
	}, nil
}

// Deliver passes the running batons of a lane to take until ctx is done. room returns how many more it may deliver; a
// value on wake signals new room. take must not block. After ctx is done, it should release further batons.
func (s *Batons) Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	how := conn.Pulling{Wake: wake, Capacity: room, All: &s.asked, Share: s.lanes}
	return s.conn.Pull(ctx, s.stream(lane), how, func(m *nats.Msg, of conn.Delivered) {
		if d, ok := s.delivery(m, of); ok {
			take(d)
		}
	})
}

// delivery parses a message of a fire subject.
func (s *Batons) delivery(m *nats.Msg, of conn.Delivered) (*scheduler.Delivery, bool) {
	slot, ok := s.slotOf(m.Subject)
	if !ok {
		s.conn.Config.Logger.Error("message on a fire subject that names no job; removed", "subject", m.Subject)
		_ = m.Ack()
		return nil, false
	}
	if s.conn.Failover.Old(time.Now()) {
		of.Deliveries = max(of.Deliveries, 2) // the server may have redelivered it to another process
	}
	return &scheduler.Delivery{
		BatonKey: slot, Body: m.Data, Sequence: of.Sequence,
		Deliveries: of.Deliveries, Fired: of.Stored, Lease: s.conn.Failover.Keep(of.Stream, of.Sequence, m.Reply),
	}, true
}
