package conn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// SettingError reports a setting, of Carillon or of the server, that prevents opening the store.
type SettingError struct {
	Setting  string // such as "lanes", or "jetstream" for a server setting
	Message  string
	Cause    error
	Conflict bool // with stored data; matches [scheduler.ErrConflict]
}

// Error returns "setting: message".
func (e *SettingError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Setting, e.Message, e.Cause)
	}
	return e.Setting + ": " + e.Message
}

// Unwrap returns the server's error.
func (e *SettingError) Unwrap() error { return e.Cause }

// Is reports whether target is [scheduler.ErrConflict] and the setting conflicts with stored data.
func (e *SettingError) Is(target error) bool { return e.Conflict && target == scheduler.ErrConflict }

// forming lists the errors of a cluster that has just formed (names of nats-server): it does not know all its servers
// (JSClusterNoPeersErr, JSInsufficientResourcesErr), has not elected a leader (JSClusterNotAvailErr,
// JSClusterNotLeaderErr), or another process is creating the stream and it has no leader yet (JSStreamNotFoundErr, in
// the request after JSStreamNameExistErr).
var forming = []jetstream.ErrorCode{10005, 10023, 10008, 10009, jetstream.JSErrCodeStreamNotFound}

// IsTransient reports whether the error of an [Open] is transient, such as the errors of a newly formed cluster.
func IsTransient(err error) bool {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && slices.Contains(forming, api.ErrorCode) {
		return true
	}
	if _, ok := errors.AsType[*SettingError](err); ok {
		return false
	}
	return errors.Is(err, scheduler.ErrUnavailable)
}

// translated wraps a NATS error in a sentinel error of package scheduler.
type translated struct {
	kind  error
	cause error
}

// Error omits the cause where the kind is sufficient, because users see this text.
func (e *translated) Error() string {
	if errors.Is(e.kind, scheduler.ErrUnavailable) {
		return e.kind.Error() + ": " + inWords(e.cause)
	}
	return e.kind.Error()
}

func (e *translated) Unwrap() []error { return []error{e.kind, e.cause} }

// explained wraps an error in a text with a hint where to look.
type explained struct {
	text  string
	cause error
}

// asked adds the subject of the request, such as "stream CARILLON_HISTORY".
func asked(what string, err error) error { return &explained{what + ": " + inWords(err), err} }

// Error returns the text.
func (e *explained) Error() string { return e.text }

func (e *explained) Unwrap() error { return e.cause }

// inWords describes a NATS error and where to look.
func inWords(err error) string {
	if e, ok := err.(*explained); ok { //nolint:errorlint // the outermost has the words
		return e.text
	}
	api, told := errors.AsType[*jetstream.APIError](err)
	switch {
	case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrConnectionReconnecting):
		return "not connected to NATS at the moment"
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse):
		return "no NATS server accepts it: JetStream is off, or is just starting, or a stream has no leader yet"
	case errors.Is(err, jetstream.ErrAsyncPublishTimeout):
		return "NATS did not acknowledge the write in time: its stream takes none, or the server hangs"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return "NATS did not answer in time: the server hangs, or cannot be reached, or its cluster has no leader"
	case told && api.ErrorCode == errNoLeader:
		return "the NATS cluster has no leader: it chooses one, or half of its servers or more are away"
	}
	if r := remedyOf(err.Error()); told && r != "" {
		return err.Error() + "; " + r
	}
	return err.Error()
}

// errNoLeader is the error of a cluster or a stream without a leader (JSClusterNotAvailErr).
const errNoLeader jetstream.ErrorCode = 10008

// Translate maps a NATS error to the sentinel errors of package scheduler and keeps the cause. A canceled context is
// unchanged.
func Translate(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, scheduler.ErrUnavailable), errors.Is(err, scheduler.ErrConflict), errors.Is(err, scheduler.ErrNotFound):
		return err
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrKeyDeleted), errors.Is(err, jetstream.ErrMsgNotFound):
		return &translated{scheduler.ErrNotFound, err}
	case overtaken(err):
		return &translated{scheduler.ErrConflict, err}
	default:
		return &translated{scheduler.ErrUnavailable, err}
	}
}

// Deleted returns the translated error of a deletion, and nil if the message did not exist.
func Deleted(ctx context.Context, st jetstream.Stream, sequence uint64, err error) error {
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		if _, missing := st.GetMsg(ctx, sequence); errors.Is(missing, jetstream.ErrMsgNotFound) {
			return nil
		}
	}
	return Translate(err)
}

// overtaken reports whether a condition on a subject's last sequence failed. A replicated stream uses a different code
// while another write to the subject is in progress.
func overtaken(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// denied returns the permission violation that explains an unanswered request, or err.
func denied(nc *nats.Conn, err error) error {
	if last := nc.LastError(); errors.Is(last, nats.ErrPermissionViolation) {
		return &SettingError{Setting: "permissions", Message: "the NATS user may not use a subject Carillon needs", Cause: last}
	}
	return err
}
