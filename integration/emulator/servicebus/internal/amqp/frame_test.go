package amqp_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

var performatives = []amqp.Performative{
	&amqp.Open{
		ContainerID: "c", Hostname: "h", MaxFrameSize: 65536, ChannelMax: 65535, IdleTimeout: 30000,
		Offered: []amqp.Symbol{"a", "b"}, Desired: []amqp.Symbol{"c"}, Properties: amqp.Map{{amqp.Symbol("product"), "x"}},
	},
	&amqp.Begin{RemoteChannel: amqp.Some(0), NextOutgoingID: 1, IncomingWindow: 5000, OutgoingWindow: 5000, HandleMax: math.MaxUint32},
	&amqp.Attach{
		Name: "link", Handle: 3, Receiver: true, SndSettleMode: 1, RcvSettleMode: 1, MaxMessageSize: 1 << 20,
		Source: &amqp.Terminus{
			Address: "q", Timeout: 5, Filter: amqp.Map{{amqp.Symbol("f"), amqp.Described{uint64(0x137000000C), nil}}},
			Outcomes: []amqp.Symbol{"amqp:accepted:list"}, DistributionMode: "move",
		},
		Target: &amqp.Terminus{Address: "t", Dynamic: true, NodeProps: amqp.Map{{amqp.Symbol("n"), true}}},
	},
	&amqp.Attach{Name: "tx", InitialDeliveryCount: 9, Target: &amqp.Terminus{Coordinator: true, Capabilities: []amqp.Symbol{"c"}}},
	&amqp.Flow{IncomingWindow: 1, Handle: amqp.Some(0), DeliveryCount: amqp.Some(7), LinkCredit: amqp.Some(100), Drain: true, Echo: true},
	&amqp.Transfer{
		Handle: 1, DeliveryID: amqp.Some(0), DeliveryTag: []byte("tag"), MessageFormat: amqp.Some(amqp.BatchFormat), Settled: true,
		More: true, State: amqp.Transactional{TxnID: []byte("txn")}, Aborted: true,
	},
	&amqp.Disposition{Receiver: true, First: 4, Last: 4, Settled: true, State: amqp.Accepted{}},
	&amqp.Disposition{First: 4, Last: 9, State: amqp.Released{}},
	&amqp.Disposition{State: amqp.Rejected{}},
	&amqp.Disposition{State: amqp.Rejected{Error: &amqp.Error{Condition: "c", Description: "d", Info: amqp.Map{{amqp.Symbol("i"), "n"}}}}},
	&amqp.Disposition{State: amqp.Modified{DeliveryFailed: true, UndeliverableHere: true, Annotations: amqp.Map{{amqp.Symbol("a"), int64(1)}}}},
	&amqp.Disposition{State: amqp.Received{Section: 1, Offset: 2}},
	&amqp.Disposition{State: amqp.Declared{TxnID: []byte("txn")}},
	&amqp.Disposition{State: amqp.Transactional{TxnID: []byte("txn"), Outcome: amqp.Accepted{}}},
	&amqp.Detach{Handle: 1, Closed: true, Error: &amqp.Error{Condition: "amqp:not-found"}},
	&amqp.End{},
	&amqp.Close{Error: &amqp.Error{Condition: "amqp:connection:forced", Description: "why"}},
}

func TestPerformatives(t *testing.T) {
	var stream []byte
	for i, p := range performatives {
		stream = amqp.AppendFrame(stream, amqp.FrameAMQP, uint16(i), p, []byte("payload"))
	}
	r := amqp.NewReader(iotest.OneByteReader(bytes.NewReader(stream)), 65536)
	for i, want := range performatives {
		frame, err := r.Frame()
		if err != nil || frame.Channel != uint16(i) || frame.Kind != amqp.FrameAMQP {
			t.Fatal(frame, err)
		}
		got, payload, err := amqp.Decode(frame.Body)
		if err != nil || string(payload) != "payload" {
			t.Errorf("%T: payload %q, error %v", want, payload, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("want -, got +\n%s", diff)
		}
	}
	if _, err := r.Frame(); !errors.Is(err, io.EOF) {
		t.Error("at the end:", err)
	}
}

func TestSASL(t *testing.T) {
	for _, want := range []amqp.Performative{
		&amqp.SASLMechanisms{Mechanisms: []amqp.Symbol{"ANONYMOUS", "PLAIN"}},
		&amqp.SASLInit{Mechanism: "PLAIN", Response: []byte("\x00user\x00key"), Hostname: "h"},
		&amqp.SASLOutcome{Code: 1},
	} {
		got := must.Get(amqp.DecodeSASL(amqp.AppendPerformative(nil, want)))(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestAbsent shows the defaults of fields that a short list does not have.
func TestAbsent(t *testing.T) {
	short := func(descriptor uint64) amqp.Performative {
		p, _, err := amqp.Decode(amqp.Append(nil, amqp.Described{descriptor, amqp.List{}}))
		if err != nil {
			t.Error(err)
		}
		return p
	}
	if p := short(0x10).(*amqp.Open); p.MaxFrameSize != math.MaxUint32 || p.ChannelMax != math.MaxUint16 {
		t.Errorf("%+v", p)
	}
	if p := short(0x12).(*amqp.Attach); p.SndSettleMode != amqp.SenderMixed {
		t.Errorf("%+v", p)
	}
	if p := short(0x14).(*amqp.Transfer); p.DeliveryID.Present || p.DeliveryTag != nil {
		t.Errorf("%+v", p)
	}
	one, _, err := amqp.Decode(amqp.Append(nil, amqp.Described{amqp.Symbol("amqp:disposition:list"), amqp.List{true, uint32(8)}}))
	if p := one.(*amqp.Disposition); err != nil || p.First != 8 || p.Last != 8 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestFrameLimits(t *testing.T) {
	tests := map[string]struct {
		input []byte
		want  error
	}{
		"too large":        {[]byte{0x7f, 0xff, 0xff, 0xff, 2, 0, 0, 0}, amqp.ErrFrameTooLarge},
		"too small":        {[]byte{0, 0, 0, 7, 2, 0, 0, 0}, amqp.ErrMalformed},
		"body before head": {[]byte{0, 0, 0, 8, 1, 0, 0, 0}, amqp.ErrMalformed},
		"body after end":   {[]byte{0, 0, 0, 8, 3, 0, 0, 0}, amqp.ErrMalformed},
		"cut":              {[]byte{0, 0, 0, 9, 2, 0, 0, 0}, io.ErrUnexpectedEOF},
	}
	for name, test := range tests {
		if _, err := amqp.NewReader(bytes.NewReader(test.input), 65536).Frame(); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTransaction shows the requests to a coordinator.
func TestTransaction(t *testing.T) {
	for want, raw := range map[any][]byte{
		amqp.Declare{}: amqp.Declare{}.Append(nil),
		"discharge":    amqp.Discharge{TxnID: []byte("txn"), Fail: true}.Append(nil),
	} {
		got := must.Get(amqp.ParseRequest(parse(t, raw)))(t)
		if want == "discharge" {
			want = amqp.Discharge{TxnID: []byte("txn"), Fail: true}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := amqp.ParseRequest(parse(t, amqp.AppendValue(nil, "x"))); !errors.Is(err, amqp.ErrMalformed) {
		t.Error(err)
	}
}

func FuzzFrames(f *testing.F) {
	for _, p := range performatives {
		f.Add(amqp.AppendFrame(nil, amqp.FrameAMQP, 1, p, []byte("payload")))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		r := amqp.NewReader(bytes.NewReader(input), 4096)
		for {
			frame, err := r.Frame()
			if err != nil {
				return
			}
			if p, payload, err := amqp.Decode(frame.Body); err == nil {
				again, rest, err := amqp.Decode(append(amqp.AppendPerformative(nil, p), payload...))
				if err != nil || !bytes.Equal(rest, payload) {
					t.Fatalf("%+v: %v", p, err)
				}
				if !bytes.Equal(amqp.AppendPerformative(nil, p), amqp.AppendPerformative(nil, again)) {
					t.Fatalf("%+v became %+v", p, again)
				}
			}
			_, _ = amqp.DecodeSASL(frame.Body)
		}
	})
}
