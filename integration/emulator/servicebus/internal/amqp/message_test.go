package amqp_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	peer "github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// full is a message with every section, encoded by another implementation.
func full(tb testing.TB) []byte {
	tb.Helper()
	now := time.UnixMilli(1_700_000_000_000).UTC()
	raw := must.Get((&peer.Message{
		Header:              &peer.MessageHeader{Durable: true, Priority: 7, TTL: 90 * time.Second, DeliveryCount: 3},
		DeliveryAnnotations: peer.Annotations{"x-opt-lock-token": peer.UUID{1}},
		Annotations:         peer.Annotations{"x-opt-partition-key": "part", "x-opt-scheduled-enqueue-time": now},
		Properties: &peer.MessageProperties{
			MessageID: "id", UserID: []byte("user"), To: new("to"), Subject: new("label"), ReplyTo: new("reply"), CorrelationID: uint64(9),
			ContentType: new("text/plain"), ContentEncoding: new("utf-8"), AbsoluteExpiryTime: &now, CreationTime: &now,
			GroupID: new("session"), GroupSequence: new(uint32(5)), ReplyToGroupID: new("reply session"),
		},
		ApplicationProperties: map[string]any{"number": int64(1)},
		Data:                  [][]byte{[]byte("one"), []byte("two")},
		Footer:                peer.Annotations{"foot": "er"},
	}).MarshalBinary())(tb)
	return raw
}

func parse(tb testing.TB, raw []byte) amqp.Message {
	tb.Helper()
	return must.Get(amqp.ParseMessage(raw))(tb)
}

func TestParseMessage(t *testing.T) {
	m := parse(t, full(t))
	now := time.UnixMilli(1_700_000_000_000).UTC()
	same := func(want, got any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	same(amqp.Header{Durable: true, Priority: 7, TTL: 90 * time.Second, DeliveryCount: 3}, m.Header())
	same(amqp.Properties{
		MessageID: "id", UserID: []byte("user"), To: "to", Subject: "label", ReplyTo: "reply", CorrelationID: uint64(9),
		ContentType: "text/plain", ContentEncoding: "utf-8", AbsoluteExpiry: now, Creation: now, GroupID: "session", HasGroupID: true,
		GroupSequence: amqp.Some(5), ReplyToGroupID: "reply session",
	}, m.Properties())
	same(amqp.Map{{amqp.Symbol("x-opt-lock-token"), amqp.UUID{1}}}, m.DeliveryAnnotations())
	same(any("part"), m.MessageAnnotations().Get("x-opt-partition-key"))
	same(any(now), m.MessageAnnotations().Get("x-opt-scheduled-enqueue-time"))
	same(amqp.Map{{"number", int64(1)}}, m.ApplicationProperties())
	same([][]byte{[]byte("one"), []byte("two")}, m.Data())
	if _, ok := m.Value(); ok {
		t.Error("data is a value")
	}
}

// TestEmptySections shows what a message without sections says.
func TestEmptySections(t *testing.T) {
	m := parse(t, nil)
	if diff := cmp.Diff(amqp.Header{Priority: 4}, m.Header()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(amqp.Properties{}, m.Properties()); diff != "" {
		t.Error(diff)
	}
	if m.Data() != nil || m.Body() != nil && len(m.Body()) != 0 || m.ApplicationProperties() != nil {
		t.Error("an empty message has a section")
	}
	m = parse(t, amqp.AppendValue(nil, "value"))
	if value, ok := m.Value(); value != "value" || !ok {
		t.Error(value, ok)
	}
}

// TestRewrite shows that another implementation reads what was rewritten, and that all else are the same bytes.
func TestRewrite(t *testing.T) {
	original := full(t)
	m := parse(t, original)
	raw := m.Edit([]byte("front"), amqp.Edit{
		Header: &amqp.Header{DeliveryCount: 1, Priority: 4}, DeliveryAnnotations: &amqp.Map{},
		MessageAnnotations: &amqp.Map{{amqp.Symbol("x-opt-sequence-number"), int64(42)}},
	})[5:]
	var got peer.Message
	must.Do(t, got.UnmarshalBinary(raw))
	if got.Header.DeliveryCount != 1 || got.Header.Durable || got.DeliveryAnnotations != nil {
		t.Errorf("%+v", got.Header)
	}
	if diff := cmp.Diff(peer.Annotations{"x-opt-sequence-number": int64(42)}, got.Annotations); diff != "" {
		t.Error(diff)
	}
	again := parse(t, raw)
	if diff := cmp.Diff(m.Properties(), again.Properties()); diff != "" {
		t.Error(diff)
	}
	rest := original[len(original)-len(m.Body())-20:]
	if !bytes.HasSuffix(raw, rest) {
		t.Error("sections that were not named have changed")
	}
}

func TestEdit(t *testing.T) {
	raw := full(t)
	m := parse(t, raw)
	if !bytes.Equal(m.Edit(nil, amqp.Edit{}), raw) {
		t.Error("an empty edit changes the message")
	}
	properties := m.Properties()
	properties.MessageID, properties.To = "other", ""
	m = parse(t, m.Edit(nil, amqp.Edit{
		Properties:            &properties,
		ApplicationProperties: &amqp.Map{{"DeadLetterReason", "none"}},
		MessageAnnotations:    &amqp.Map{},
	}))
	if diff := cmp.Diff(properties, m.Properties()); diff != "" {
		t.Error(diff)
	}
	if m.MessageAnnotations() != nil || m.ApplicationProperties().Get("DeadLetterReason") != "none" || len(m.Data()) != 2 {
		t.Error("the sections are not those of the edit")
	}
}

// TestOrderOfSections shows that sections are put in order, and that those which are keep their bytes.
func TestOrderOfSections(t *testing.T) {
	footer := amqp.Append(nil, amqp.Described{uint64(0x78), amqp.Map{{amqp.Symbol("f"), "oot"}}})
	properties := amqp.AppendProperties(nil, amqp.Properties{MessageID: "id"})
	data := amqp.AppendData(amqp.AppendData(nil, []byte("x")), []byte("y"))
	want := slices.Concat(properties, data, footer)
	for _, raw := range [][]byte{want, slices.Concat(properties, footer, data), slices.Concat(footer, data, properties)} {
		m := parse(t, raw)
		if !bytes.Equal(m.Bytes(), want) || m.Properties().MessageID != "id" || len(m.Data()) != 2 {
			t.Errorf("%x became %x", raw, m.Bytes())
		}
	}
	if m := parse(t, want); &m.Bytes()[0] != &want[0] {
		t.Error("a message in order was copied")
	}
}

func TestMalformedMessages(t *testing.T) {
	data := amqp.AppendData(nil, []byte("x"))
	tests := map[string][]byte{
		"two bodies":               append(append(bytes.Clone(data), amqp.AppendProperties(nil, amqp.Properties{})...), data...),
		"two of one section":       append(amqp.AppendProperties(nil, amqp.Properties{}), amqp.AppendProperties(nil, amqp.Properties{})...),
		"data after a value":       append(amqp.AppendValue(nil, 1.5), data...),
		"an unknown section":       amqp.Append(nil, amqp.Described{uint64(0x99), "x"}),
		"properties that are text": amqp.Append(nil, amqp.Described{uint64(0x73), "x"}),
		"no value":                 {0x00, 0x53, 0x75},
		"garbage":                  []byte("garbage"),
	}
	for name, raw := range tests {
		if _, err := amqp.ParseMessage(raw); !errors.Is(err, amqp.ErrMalformed) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestWrongTypes shows that a field of a wrong type is as if absent.
func TestWrongTypes(t *testing.T) {
	m := parse(t, amqp.Append(amqp.Append(nil, amqp.Described{uint64(0x70), amqp.List{"durable?"}}),
		amqp.Described{uint64(0x73), amqp.List{"id", "user", uint32(5), "label"}}))
	if got := m.Header(); got.Durable || got.Priority != 4 {
		t.Errorf("%+v", got)
	}
	if got := m.Properties(); got.MessageID != "id" || got.Subject != "" {
		t.Errorf("%+v", got)
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add(full(f))
	f.Add(amqp.AppendValue(nil, amqp.Map{{"a", "b"}}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := amqp.ParseMessage(raw)
		if err != nil {
			return
		}
		header, properties, application := m.Header(), m.Properties(), m.ApplicationProperties()
		m.Data()
		m.Value()
		delivery, annotations := m.DeliveryAnnotations(), m.MessageAnnotations()
		edited := m.Edit(nil, amqp.Edit{
			Header: &header, DeliveryAnnotations: &delivery, MessageAnnotations: &annotations,
			Properties: &properties, ApplicationProperties: &application,
		})
		again, err := amqp.ParseMessage(edited)
		if err != nil {
			t.Fatalf("%x became %x: %v", raw, edited, err)
		}
		if !bytes.Equal(m.Body(), again.Body()) {
			t.Fatal("the body has changed")
		}
		if again.Header() != header {
			t.Fatalf("%+v became %+v", header, again.Header())
		}
	})
}
