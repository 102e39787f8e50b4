package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// directRequest is a batched direct get (NATS ADR-31), which the client
// library does not offer: the last message of each subject.
type directRequest struct {
	Subjects []string `json:"multi_last"`
	UpTo     uint64   `json:"up_to_seq,omitempty"` // the last one not after this sequence
}

const directGet = "$JS.API.DIRECT.GET."

// lastBefore reads the last message of a subject up to a sequence.
func (s *Store) lastBefore(ctx context.Context, stream, subject string, upTo uint64) (*jetstream.RawStreamMsg, error) {
	req, err := json.Marshal(directRequest{[]string{subject}, upTo})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	m, err := s.nc.RequestWithContext(ctx, directGet+stream, req)
	if err != nil {
		return nil, err
	}
	return rawMessage(m)
}

// lastOf calls each for the last message of every subject that has one, up to a
// sequence (0: no bound).
func (s *Store) lastOf(ctx context.Context, stream string, subjects []string, upTo uint64, each func(*jetstream.RawStreamMsg)) error {
	req, err := json.Marshal(directRequest{subjects, upTo})
	if err != nil {
		return err
	}
	answers := make(chan *nats.Msg, len(subjects)+1)
	inbox := s.nc.NewInbox()
	sub, err := s.nc.ChanSubscribe(inbox, answers)
	if err != nil {
		return translate(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	if err := s.nc.PublishRequest(directGet+stream, inbox, req); err != nil {
		return translate(err)
	}
	for {
		select {
		case m := <-answers:
			raw, err := rawMessage(m)
			if err == jetstream.ErrMsgNotFound { //nolint:errorlint // returned as it is, by rawMessage
				return nil // the end of the batch
			}
			if err != nil {
				return translate(err)
			}
			each(raw)
		case <-ctx.Done():
			return translate(context.Cause(ctx))
		}
	}
}

// rawMessage reads an answer to a direct get. jetstream.ErrMsgNotFound says
// that there is no message, or that a batch is at its end.
func rawMessage(m *nats.Msg) (*jetstream.RawStreamMsg, error) {
	switch status := m.Header.Get("Status"); status {
	case "":
	case "404", "204":
		return nil, jetstream.ErrMsgNotFound
	default:
		return nil, fmt.Errorf("direct get: %s %s", status, m.Header.Get("Description"))
	}
	sequence, err := strconv.ParseUint(m.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("direct get: %w", err)
	}
	return &jetstream.RawStreamMsg{
		Subject: m.Header.Get(jetstream.SubjectHeader), Sequence: sequence, Data: m.Data, Header: m.Header,
	}, nil
}
