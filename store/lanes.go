package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
)

// lanesKey is where the settings have the number of lanes.
const lanesKey = "lanes"

// lanesThere counts the streams of lanes.
func (s *Store) lanesThere(ctx context.Context) (n int, err error) {
	for n < MaxLanes && err == nil {
		if _, err = s.js.Stream(ctx, s.cfg.stream(timersStream(n))); err == nil {
			n++
		}
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = nil
	}
	return n, translate(err)
}

// checkLanes refuses a number of lanes that is not the stored one.
func (s *Store) checkLanes() error {
	if s.cfg.Lanes != 0 && s.cfg.Lanes != s.lanes {
		return &SettingError{Setting: "lanes", Conflict: true, Message: fmt.Sprintf(
			"%d was asked for, but this store was created with %d, which is fixed; leave the setting out or use %d",
			s.cfg.Lanes, s.lanes, s.lanes,
		)}
	}
	return nil
}

// takeLanes reads the number of lanes, or writes it at the first start. Another process may write it first, and the member of
// the cluster that answers a read may not have it yet.
func (s *Store) takeLanes(ctx context.Context, settings jetstream.KeyValue) error {
	for {
		e, err := settings.Get(ctx, lanesKey)
		if err == nil {
			s.lanes, err = strconv.Atoi(string(e.Value()))
			if err != nil || s.lanes < 1 || s.lanes > MaxLanes {
				return &SettingError{Setting: "lanes", Message: fmt.Sprintf(
					"the stored value %q in bucket %s is not a number of lanes", e.Value(), s.cfg.bucket("settings"),
				), Cause: err}
			}
			return s.checkLanes()
		}
		if !errors.Is(err, jetstream.ErrKeyNotFound) {
			return translate(err)
		}
		there, err := s.lanesThere(ctx)
		if err != nil {
			return err
		}
		s.lanes = max(1, s.cfg.Lanes)
		if there > 0 { // the first start has made them
			s.lanes = there
		}
		_, err = settings.Create(ctx, lanesKey, []byte(strconv.Itoa(s.lanes)))
		switch {
		case errors.Is(err, jetstream.ErrKeyExists):
			continue
		case err != nil:
			return translate(err)
		case there > 0:
			s.cfg.Logger.Error("the settings have lost the number of lanes; it is taken from the streams that are there", "lanes", there)
		}
		return s.checkLanes()
	}
}
