package store

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
)

// Spec is a published job spec as it came in.
type Spec struct {
	Verb     string // the subject's token after "spec": put, patch, delete, …
	Name     string // the rest of the subject: <collection>.<job> when it is well formed
	Body     []byte
	Sequence uint64
	Lease    scheduler.Lease
}

// DeliverSpecs hands published specs to take until ctx is done. room says how
// many more may come, and a value on wake that there is room again. take must
// not block; what it gets after ctx is done it should give back.
func (s *Store) DeliverSpecs(ctx context.Context, wake <-chan struct{}, room func() int, take func(Spec)) error {
	return s.pull(ctx, s.cfg.stream("SPECS"), wake, room, func(m *nats.Msg) {
		meta, err := m.Metadata()
		if err != nil {
			s.cfg.Logger.Error("spec without JetStream metadata", "subject", m.Subject, "err", err)
			return
		}
		rest := strings.TrimPrefix(m.Subject, s.cfg.Prefix+".spec.")
		verb, name, _ := strings.Cut(rest, ".")
		take(Spec{Verb: verb, Name: name, Body: m.Data, Sequence: meta.Sequence.Stream, Lease: lease{s.nc, m.Reply}})
	})
}

// PublishResult records what became of a spec: verdict is accepted or
// rejected, name the rest of the spec's subject.
func (s *Store) PublishResult(ctx context.Context, verdict, name string, body []byte) error {
	subject := s.cfg.Prefix + ".spec-result." + verdict
	if name != "" {
		subject += "." + name
	}
	m := nats.NewMsg(subject)
	m.Data = body
	_, err := s.publish(ctx, m)
	return err
}
