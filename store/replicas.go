package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// held is how many replicas a stream has.
type held struct {
	stream   string
	replicas int
}

// resize decides which streams get another number of replicas. want is what was asked for, 0 for nothing. Fewer than
// there are would give copies up: that is refused unless it was asked for too, and nothing is changed then.
func resize(have []held, want int, reduce bool) (change []held, err error) {
	if want == 0 {
		return nil, nil
	}
	for _, h := range have {
		switch {
		case h.replicas > want && !reduce:
			return nil, &SettingError{Setting: "replicas", Conflict: true, Message: fmt.Sprintf(
				"%d was asked for, but stream %s has %d: fewer would give copies up; "+
					"leave the setting out, or add --reduce-replicas if that is wanted", want, h.stream, h.replicas,
			)}
		case h.replicas != want:
			change = append(change, h)
		}
	}
	return change, nil
}

// takeReplicas finds out, once the settings are open, how many replicas what is created gets, and refuses fewer than
// are stored before anything else is done.
func (s *Store) takeReplicas(ctx context.Context) error {
	name := "KV_" + s.cfg.bucket("settings")
	info, err := s.info(ctx, name)
	if err != nil {
		return err
	}
	if s.cfg.Replicas == 0 {
		s.replicas = info.Config.Replicas
	}
	_, err = resize([]held{{name, info.Config.Replicas}}, s.cfg.Replicas, s.cfg.ReduceReplicas)
	return err
}

// replicate brings every stream and bucket to the number of replicas that was asked for, and tells the log how it goes.
func (s *Store) replicate(ctx context.Context) error {
	var have []held
	for _, name := range s.streams() {
		info, err := s.info(ctx, name)
		if err != nil {
			return err
		}
		have = append(have, held{name, info.Config.Replicas})
	}
	change, err := resize(have, s.cfg.Replicas, s.cfg.ReduceReplicas)
	if err != nil || len(change) == 0 {
		return err
	}
	s.cfg.Logger.Info("changing the number of replicas", "from", change[0].replicas, "to", s.cfg.Replicas, "streams", len(change))
	for _, h := range change {
		if err := s.setReplicas(ctx, h.stream); err != nil {
			return err
		}
	}
	return s.awaitCopies(ctx, change)
}

// streams returns the names of all streams and buckets of the store.
func (s *Store) streams() []string {
	if s.pulse == "" {
		return s.opened
	}
	return append(slices.Clone(s.opened), s.pulse)
}

func (s *Store) info(ctx context.Context, stream string) (*jetstream.StreamInfo, error) {
	st, err := s.js.Stream(ctx, stream)
	if err != nil {
		return nil, s.openError("stream "+stream, err)
	}
	return st.CachedInfo(), nil
}

// setReplicas asks the server for another number of replicas of a stream.
func (s *Store) setReplicas(ctx context.Context, stream string) error {
	info, err := s.info(ctx, stream)
	if err != nil || info.Config.Replicas == s.cfg.Replicas { // another process was quicker
		return err
	}
	cfg := info.Config
	cfg.Replicas = s.cfg.Replicas
	if _, err := s.js.UpdateStream(ctx, cfg); err != nil {
		if api, ok := errors.AsType[*jetstream.APIError](err); ok {
			return &SettingError{Setting: "replicas", Cause: api, Message: fmt.Sprintf(
				"stream %s has %d, and cannot have %d here%s", stream, info.Config.Replicas, s.cfg.Replicas, whyNot(api),
			)}
		}
		return translate(denied(s.nc, asked("stream "+stream, err)))
	}
	return nil
}

// errSingleServer is the answer of a server that is in no cluster.
const errSingleServer jetstream.ErrorCode = 10074

// errNoPeers is the answer of a cluster that has too few servers for the replicas that were asked for.
const errNoPeers jetstream.ErrorCode = 10005

// outOfRoom are the answers, by the names of nats-server, of a server that has no room for a stream: JSInsufficientResourcesErr,
// JSStorageResourcesExceededErr, JSAccountResourcesExceededErr.
var outOfRoom = []jetstream.ErrorCode{10023, 10047, 10002}

// ServerSetting is the Setting of a [SettingError] for which the NATS server, and what it runs on, is to blame.
const ServerSetting = "nats-server"

// blame is the setting that keeps a stream from being created.
func blame(api *jetstream.APIError) string {
	if api.ErrorCode == errSingleServer || api.ErrorCode == errNoPeers {
		return "replicas"
	}
	return ServerSetting
}

// whyNot says in plain words why a server cannot keep a stream.
func whyNot(api *jetstream.APIError) string {
	switch {
	case api.ErrorCode == errSingleServer:
		return ", where one NATS server is alone and keeps one copy"
	case slices.Contains(outOfRoom, api.ErrorCode):
		return ", as the server or the account has no room left for it"
	case api.Code >= http.StatusInternalServerError:
		return ", as the server cannot write it: its disk may be full or read-only, or it may have too many files open"
	}
	return ""
}

// The waits for copies. Whoever is still behind after that catches up while the scheduler works.
const (
	copyPatience = 30 * time.Second
	copyPause    = 100 * time.Millisecond
)

// awaitCopies waits until the new replicas of streams hold what the others hold.
func (s *Store) awaitCopies(ctx context.Context, streams []held) error {
	patience := time.NewTimer(copyPatience)
	defer patience.Stop()
	for i, h := range streams {
		s.cfg.Progress(fmt.Sprintf("copying stream %s to %d replicas, %d of %d", h.stream, s.cfg.Replicas, i+1, len(streams)))
		for {
			info, err := s.info(ctx, h.stream)
			if err != nil && !errors.Is(err, scheduler.ErrUnavailable) { // a new leader may still be chosen
				return err
			}
			if err == nil && copied(info) {
				s.cfg.Logger.Info("stream has its replicas", "stream", h.stream, "done", i+1, "of", len(streams))
				break
			}
			select {
			case <-time.After(copyPause):
			case <-patience.C:
				s.cfg.Logger.Warn("the new replicas still catch up; the work begins", "stream", h.stream, "done", i, "of", len(streams))
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// copied reports whether a stream has all its replicas, and each is up to date.
func copied(info *jetstream.StreamInfo) bool {
	if info.Cluster == nil {
		return info.Config.Replicas == 1
	}
	if len(info.Cluster.Replicas) != info.Config.Replicas-1 {
		return false
	}
	for _, peer := range info.Cluster.Replicas {
		if !peer.Current {
			return false
		}
	}
	return true
}
