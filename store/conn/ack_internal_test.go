package conn

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestAckMeans maps a stream's responses to errors of package scheduler.
func TestAckMeans(t *testing.T) {
	refusal := func(code, description string) string {
		return `{"error":{"code":400,"err_code":` + code + `,"description":"` + description + `"},"stream":"S","seq":0}`
	}
	none := errors.New("none of the scheduler's")
	tests := []struct {
		name, answer string
		sequence     uint64
		is           error // sentinel error of package scheduler
		code         jetstream.ErrorCode
	}{
		{name: "stored", answer: `{"stream":"S","seq":7}`, sequence: 7},
		{name: "stored in a domain", answer: `{"stream":"S","domain":"hub","seq":8}`, sequence: 8},
		{name: "with room between the fields", answer: `{ "stream": "S", "seq": 9 }`, sequence: 9},
		{name: "in another order", answer: `{"seq":10,"stream":"S"}`, sequence: 10},
		{name: "with fields that are new", answer: `{"stream":"S","seq":11,"new":{"a":[1]}}`, sequence: 11},
		{name: "a stream with an odd name", answer: `{"stream":"\u0053","seq":12}`, sequence: 12},
		{name: "the last sequence", answer: `{"stream":"S","seq":18446744073709551615}`, sequence: 1<<64 - 1},
		{name: "one too many", answer: `{"stream":"S","seq":18446744073709551616}`, is: scheduler.ErrUnavailable},
		{name: "a condition did not hold", answer: refusal("10071", "wrong last sequence: 4"), is: scheduler.ErrConflict, code: 10071},
		{name: "a write is under way", answer: refusal("10164", "wrong last sequence"), is: scheduler.ErrConflict, code: 10164},
		{name: "the disk is full", answer: refusal("10077", "no space left on device"), is: scheduler.ErrUnavailable, code: 10077},
		{name: "no stream", answer: `{"seq":3}`, is: scheduler.ErrUnavailable},
		{name: "no answer of a stream", answer: `hello`, is: scheduler.ErrUnavailable},
		{name: "nothing", answer: ``, is: scheduler.ErrUnavailable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sequence, err := readAck(&nats.Msg{Data: []byte(test.answer)})
			err = Translate(err)
			if sequence != test.sequence || (err == nil) != (test.is == nil) {
				t.Errorf("got %d, %v, want %d, %v", sequence, err, test.sequence, test.is)
			}
			for _, kind := range []error{scheduler.ErrConflict, scheduler.ErrNotFound, scheduler.ErrUnavailable, none} {
				if errors.Is(err, kind) != errors.Is(test.is, kind) {
					t.Errorf("got %v, want %v", err, test.is)
				}
			}
			if api, ok := errors.AsType[*jetstream.APIError](err); ok != (test.code != 0) || ok && api.ErrorCode != test.code {
				t.Errorf("got the code of %v, want %d", api, test.code)
			}
		})
	}
	_, err := readAck(&nats.Msg{Header: nats.Header{"Status": {"503"}}})
	if !errors.Is(err, jetstream.ErrNoStreamResponse) || !errors.Is(Translate(err), scheduler.ErrUnavailable) {
		t.Errorf("nobody listens: %v", err)
	}
	if err := Translate(context.Canceled); !errors.Is(err, context.Canceled) || errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("a wait that was ended: %v", err)
	}
}

// FuzzAck compares plainAck with the JSON decoder, and checks that plainAck handles the plain form.
func FuzzAck(f *testing.F) {
	for _, seed := range []string{
		`{"stream":"S","seq":1}`, `{"stream":"S","domain":"d","seq":2}`, `{"stream":"S","seq":01}`, `{"stream":"S","seq":-1}`,
		`{"stream":"","seq":1}`, `{"stream":"S\n","seq":1}`, `{"stream":"S","seq":1}}`, `{"stream":"S","seq":1,"error":{"code":1}}`,
		`{"stream":"S","domain":"","seq":1}`, "{\"stream\":\"\xff\",\"seq\":1}", `{"stream":"S","seq":1e3}`, `{"stream":"S","seq":}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, plain := plainAck(data)
		var ack struct {
			Error    *jetstream.APIError `json:"error"`
			Stream   string              `json:"stream"`
			Domain   *string             `json:"domain"`
			Sequence uint64              `json:"seq"`
		}
		err := json.Unmarshal(data, &ack)
		if plain && (err != nil || ack.Error != nil || ack.Stream == "" || ack.Sequence != got) {
			t.Errorf("%q is read as %d; it says %+v, %v", data, got, ack, err)
		}
	})
}

// TestPlainAcksAreReadByHand checks that a server's usual acknowledgements are parsed without allocation.
func TestPlainAcksAreReadByHand(t *testing.T) {
	for _, answer := range []string{`{"stream":"CARILLON_HISTORY","seq":123456}`, `{"stream":"KV_carillon-jobs","domain":"hub","seq":1}`} {
		m := &nats.Msg{Data: []byte(answer)}
		if n := testing.AllocsPerRun(100, func() {
			must.Get(readAck(m))(t)
		}); n > 0 {
			t.Errorf("%s takes %v allocations", answer, n)
		}
	}
}
