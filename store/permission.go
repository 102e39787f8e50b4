package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
)

// permissions are the publish permissions of the NATS user (from $SYS.REQ.USER.INFO).
type permissions struct {
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`

	replies bool // to received messages, in addition
}

// userInfoTimeout is the timeout for the permissions. A user without permission to ask gets no answer.
const userInfoTimeout = time.Second

// checkSubjects checks the required publish permissions at the start, rather than when a job is due.
func (s *Store) checkSubjects(ctx context.Context) error {
	slot := scheduler.Slot{Key: scheduler.Key{Collection: "probe", Job: "probe"}}
	quiet := []string{s.timerSubject(slot), s.fireSubject(slot), s.jobSubject(slot.Key)}
	if may, ok := s.permissions(ctx); ok {
		loud := []string{
			s.historySubject(slot.Key, scheduler.OutcomeCompleted),
			s.cfg.Prefix + ".spec-result.accepted.probe.probe", s.cfg.Prefix + ".spec-id.probe",
		}
		if subject := s.ackSubject(); !may.replies && !may.publish(subject) && !may.publish(s.longAckSubject()) {
			loud = append(loud, subject)
		}
		for _, subject := range append(quiet, loud...) {
			if !may.publish(subject) {
				return translate(&SettingError{Setting: "permissions", Message: fmt.Sprintf(
					"the NATS user may not publish to %s, which Carillon needs", subject,
				)})
			}
		}
		if subject := s.pulseSubject("report.probe"); s.pulse != "" && !may.publish(subject) {
			s.noPulse("the NATS user may not publish to " + subject)
		}
		for _, stream := range s.opened {
			if !may.publish(purgeSubject(stream)) {
				s.unasked.add(stream)
			}
		}
		return nil
	}
	for _, subject := range quiet { // only the server receives these
		if err := s.probe(ctx, subject); err != nil {
			return translate(err)
		}
	}
	return nil
}

// ackSubject returns a subject on which delivered batons are acknowledged. Without permission for it, every baton would
// be redelivered endlessly. See [readDelivered] for its two forms.
func (s *Store) ackSubject() string {
	return "$JS.ACK." + s.timers[0].CachedInfo().Config.Name + "." + workers + ".1.1.1.1.0"
}

func (s *Store) longAckSubject() string {
	return "$JS.ACK._.account." + s.timers[0].CachedInfo().Config.Name + "." + workers + ".1.1.1.1.0.any"
}

// permissions asks the server for the publish permissions of this user.
func (s *Store) permissions(ctx context.Context) (permissions, bool) {
	ctx, cancel := context.WithTimeout(ctx, userInfoTimeout)
	defer cancel()
	m, err := s.nc.RequestWithContext(ctx, "$SYS.REQ.USER.INFO", nil)
	if err != nil {
		return permissions{}, false
	}
	var answer struct {
		Data struct {
			Permissions struct {
				Publish permissions     `json:"publish"`
				Replies json.RawMessage `json:"responses"`
			} `json:"permissions"`
		} `json:"data"`
	}
	if json.Unmarshal(m.Data, &answer) != nil {
		return permissions{}, false
	}
	may := answer.Data.Permissions
	may.Publish.replies = len(may.Replies) > 0
	return may.Publish, true
}

// publish reports whether the user may publish to a subject.
func (p permissions) publish(subject string) bool {
	allowed := len(p.Allow) == 0
	for _, pattern := range p.Allow {
		allowed = allowed || matches(pattern, subject)
	}
	for _, pattern := range p.Deny {
		allowed = allowed && !matches(pattern, subject)
	}
	return allowed
}

// matches reports whether a subject matches a pattern with the wildcards * and >.
func matches(pattern, subject string) bool {
	p, s := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range p {
		if token == ">" {
			return len(s) > i
		}
		if i >= len(s) || token != "*" && token != s[i] {
			return false
		}
	}
	return len(p) == len(s)
}

// probe checks that the user may publish to a subject without storing a message: the stream rejects a message that
// expects another stream. The server reports a permission violation before it answers the flush.
func (s *Store) probe(ctx context.Context, subject string) error {
	m := nats.NewMsg(subject)
	m.Reply = s.nc.NewInbox() // no subscriber; only a violation matters
	m.Header.Set(jetstream.ExpectedStreamHeader, "-")
	if err := s.nc.PublishMsg(m); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if err := s.nc.FlushWithContext(ctx); err != nil {
		return err
	}
	return denied(s.nc, nil)
}
