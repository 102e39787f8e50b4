package conn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/failover"
)

// held is the current number of replicas of a stream.
type held struct {
	stream   string
	replicas int
}

// resize returns the streams whose number of replicas changes to want (0: no change). Reducing it removes copies, so
// resize refuses that, without any change, unless reduce is true.
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

// takeReplicas determines the number of replicas for new streams from the settings bucket. It refuses a reduction
// before any other change.
func (s *Conn) takeReplicas(ctx context.Context) error {
	name := "KV_" + s.Config.Bucket("settings")
	info, err := s.Info(ctx, name)
	if err != nil {
		return err
	}
	if s.Config.Replicas == 0 {
		s.Replicas = info.Config.Replicas
	}
	_, err = resize([]held{{name, info.Config.Replicas}}, s.Config.Replicas, s.Config.ReduceReplicas)
	return err
}

// Replicate changes every stream and bucket to the configured number of replicas, and logs its progress.
func (s *Conn) Replicate(ctx context.Context) error {
	var have []held
	for _, name := range s.Streams() {
		info, err := s.Info(ctx, name)
		if err != nil {
			return err
		}
		have = append(have, held{name, info.Config.Replicas})
	}
	change, err := resize(have, s.Config.Replicas, s.Config.ReduceReplicas)
	if err != nil || len(change) == 0 {
		return err
	}
	s.Config.Logger.Info("changing the number of replicas", "from", change[0].replicas, "to", s.Config.Replicas, "streams", len(change))
	for _, h := range change {
		if err := s.setReplicas(ctx, h.stream); err != nil {
			return err
		}
	}
	return s.awaitCopies(ctx, change)
}

// Streams returns the names of all streams, including the streams of buckets.
func (s *Conn) Streams() []string {
	isNone := func(name string) bool { return name == "" }
	return append(slices.Clone(s.Opened), slices.DeleteFunc([]string{s.ActivityStream, s.SnapshotStream}, isNone)...)
}

// Info returns the configuration and the state of a stream.
func (s *Conn) Info(ctx context.Context, stream string) (*jetstream.StreamInfo, error) {
	st, err := s.JS.Stream(ctx, stream)
	if err != nil {
		return nil, s.openError("stream "+stream, err)
	}
	return st.CachedInfo(), nil
}

// setReplicas changes the number of replicas of a stream.
func (s *Conn) setReplicas(ctx context.Context, stream string) error {
	info, err := s.Info(ctx, stream)
	if err != nil || info.Config.Replicas == s.Config.Replicas { // another process has changed it
		return err
	}
	cfg := info.Config
	cfg.Replicas = s.Config.Replicas
	if _, err := s.JS.UpdateStream(ctx, cfg); err != nil {
		if api, ok := errors.AsType[*jetstream.APIError](err); ok {
			return &SettingError{Setting: "replicas", Cause: api, Message: fmt.Sprintf(
				"stream %s has %d, and cannot have %d here%s", stream, info.Config.Replicas, s.Config.Replicas, whyNot(api),
			)}
		}
		return Translate(denied(s.NC, asked("stream "+stream, err)))
	}
	return nil
}

// errSingleServer is the error of a server without a cluster.
const errSingleServer jetstream.ErrorCode = 10074

// errNoPeers is the error of a cluster with fewer servers than replicas.
const errNoPeers jetstream.ErrorCode = 10005

// outOfRoom lists the errors of a server without space for a stream (nats-server: JSInsufficientResourcesErr,
// JSStorageResourcesExceededErr, JSMemoryResourcesExceededErr, JSAccountResourcesExceededErr).
var outOfRoom = []jetstream.ErrorCode{10023, 10047, 10028, 10002}

// errStreamTooLarge is the error of an account that limits the maximum size of streams (JSStreamMaxStreamBytesExceeded).
const errStreamTooLarge jetstream.ErrorCode = 10122

// IsOutOfRoom reports whether a server refuses a stream because it, or the account, lacks the space for its maximum size.
func IsOutOfRoom(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (slices.Contains(outOfRoom, api.ErrorCode) || api.ErrorCode == errStreamTooLarge)
}

// ServerSetting is the Setting of a [SettingError] that the NATS server or its host causes.
const ServerSetting = "nats-server"

// blame returns the setting that prevents the creation of a stream.
func blame(api *jetstream.APIError) string {
	if api.ErrorCode == errSingleServer || api.ErrorCode == errNoPeers {
		return "replicas"
	}
	return ServerSetting
}

// whyNot explains why a server cannot store a stream.
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

// Limits of the wait for new replicas. Slower replicas catch up while the scheduler runs.
const (
	copyPatience = 30 * time.Second
	copyPause    = 100 * time.Millisecond
)

// awaitCopies waits until the new replicas of streams are up to date.
func (s *Conn) awaitCopies(ctx context.Context, streams []held) error {
	patience, cancel := context.WithTimeout(ctx, copyPatience)
	defer cancel()
	for i, h := range streams {
		s.Config.Progress(fmt.Sprintf("copying stream %s to %d replicas, %d of %d", h.stream, s.Config.Replicas, i+1, len(streams)))
		for {
			info, err := s.Info(ctx, h.stream)
			if err != nil && !errors.Is(err, scheduler.ErrUnavailable) { // an election may be in progress
				return err
			}
			if err == nil && copied(info) {
				s.Config.Logger.Info("stream has its replicas", "stream", h.stream, "done", i+1, "of", len(streams))
				break
			}
			switch {
			case failover.Pause(patience, copyPause):
			case ctx.Err() != nil:
				return context.Cause(ctx)
			default:
				s.Config.Logger.Warn("the new replicas are still catching up; starting anyway",
					"stream", h.stream, "done", i, "of", len(streams))
				return nil
			}
		}
	}
	return nil
}

// copied reports whether a stream has all its replicas, all up to date.
func copied(info *jetstream.StreamInfo) bool {
	if info.Cluster == nil {
		return info.Config.Replicas == 1
	}
	lags := func(peer *jetstream.PeerInfo) bool { return !peer.Current }
	return len(info.Cluster.Replicas) == info.Config.Replicas-1 && !slices.ContainsFunc(info.Cluster.Replicas, lags)
}
