// The Service Bus emulator seen by go-amqp, an AMQP 1.0 client that knows nothing of Service Bus.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func main() {
	report.Run("github.com/Azure/go-amqp", []report.Operation{
		{Name: "send", Do: send},
		{Name: "send while receiving", Do: both},
		{Name: "large message", Do: large},
		{Name: "properties of every type", Do: properties},
		{Name: "bodies of every type", Do: bodies},
		{Name: "complete", Do: complete},
		{Name: "abandon", Do: abandon},
		{Name: "dead-letter", Do: deadLetter},
		{Name: "session by name", Do: session},
		{Name: "topic and subscription", Do: topic},
		{Name: "unknown entity", Do: unknown},
		{Name: "wrong key", Do: wrongKey},
	})
}

// connected calls a function with a session of a separate connection.
func connected(ctx context.Context, do func(*amqp.Session)) {
	conn := report.Get(dial(ctx, report.Connection("SERVICEBUS_CONNECTION_STRING")["SharedAccessKey"]))
	defer conn.Close()
	do(report.Get(conn.NewSession(ctx, nil)))
	report.Must(conn.Close())
}

func dial(ctx context.Context, key string) (*amqp.Conn, error) {
	name := report.Connection("SERVICEBUS_CONNECTION_STRING")["SharedAccessKeyName"]
	return amqp.Dial(ctx, "amqp://"+os.Getenv("SERVICEBUS_AMQP"), &amqp.ConnOptions{SASLType: amqp.SASLTypePlain(name, key)})
}

// onQueue runs a function with a sender and a receiver of a queue.
func onQueue(ctx context.Context, queue string, do func(*amqp.Sender, *amqp.Receiver)) {
	connected(ctx, func(s *amqp.Session) {
		do(report.Get(s.NewSender(ctx, queue, nil)), report.Get(s.NewReceiver(ctx, queue, nil)))
	})
}

func put(ctx context.Context, sender *amqp.Sender, texts ...string) {
	for _, text := range texts {
		report.Must(sender.Send(ctx, amqp.NewMessage([]byte(text)), nil))
	}
}

// collect receives messages with these texts and accepts them.
func collect(ctx context.Context, receiver *amqp.Receiver, want ...string) {
	var got []string
	for range want {
		m, err := receiver.Receive(ctx, nil)
		if err != nil {
			report.Must(fmt.Errorf("%d of %d messages came: %w", len(got), len(want), err))
		}
		report.Must(receiver.AcceptMessage(ctx, m))
		got = append(got, string(m.GetData()))
	}
	report.Same(got, want)
}

func send(ctx context.Context) {
	connected(ctx, func(s *amqp.Session) {
		sender := report.Get(s.NewSender(ctx, "send", nil))
		report.Sends(func(text string) { put(ctx, sender, text) })
		receiver := report.Get(s.NewReceiver(ctx, "send", &amqp.ReceiverOptions{Credit: 100}))
		collect(ctx, receiver, report.Series(100)...)
	})
}

func both(ctx context.Context) {
	onQueue(ctx, "both", func(sender *amqp.Sender, receiver *amqp.Receiver) {
		received := make(chan error, 1)
		go func() { received <- report.Try(func() { collect(ctx, receiver, report.Series(100)...) }) }()
		report.Sends(func(text string) { put(ctx, sender, text) })
		report.Must(<-received)
	})
}

func large(ctx context.Context) {
	onQueue(ctx, "large", func(sender *amqp.Sender, receiver *amqp.Receiver) {
		text := string(make([]byte, 900_000))
		put(ctx, sender, text)
		collect(ctx, receiver, text)
		report.Refused(sender.Send(ctx, amqp.NewMessage(make([]byte, 2_000_000)), nil), "size", "large")
	})
}

func properties(ctx context.Context) {
	onQueue(ctx, "properties", func(sender *amqp.Sender, receiver *amqp.Receiver) {
		sent := map[string]any{
			"text": "ä€", "flag": true, "byte": int8(-5), "short": int16(-500), "int": int32(-5), "long": int64(1 << 40), "ubyte": uint8(5),
			"ushort": uint16(500), "uint": uint32(7), "ulong": uint64(1 << 63), "double": 1.5, "float": float32(0.5),
			"time": time.UnixMilli(1893553445000).UTC(), "uuid": amqp.UUID{1, 2, 3}, "null": nil,
		}
		subject := "label"
		m := amqp.NewMessage([]byte("m"))
		m.Properties = &amqp.MessageProperties{MessageID: "id", Subject: &subject}
		m.ApplicationProperties = sent
		report.Must(sender.Send(ctx, m, nil))
		got := report.Get(receiver.Receive(ctx, nil))
		for name, want := range sent {
			value := got.ApplicationProperties[name]
			if t, ok := value.(time.Time); ok {
				value = t.UTC()
			}
			report.Equal(value, want)
		}
		report.Equal(*got.Properties.Subject, subject)
		report.Must(receiver.AcceptMessage(ctx, got))
	})
}

func bodies(ctx context.Context) {
	onQueue(ctx, "bodies", func(sender *amqp.Sender, receiver *amqp.Receiver) {
		for _, m := range []*amqp.Message{{Value: "text"}, {Data: [][]byte{[]byte("a"), []byte("b")}}, {Sequence: [][]any{{int64(1), "x"}}}} {
			report.Must(sender.Send(ctx, m, nil))
			got := report.Get(receiver.Receive(ctx, nil))
			report.Equal(fmt.Sprint(got.Value, got.Data, got.Sequence), fmt.Sprint(m.Value, m.Data, m.Sequence))
			report.Must(receiver.AcceptMessage(ctx, got))
		}
	})
}

func complete(ctx context.Context) {
	onQueue(ctx, "complete", func(sender *amqp.Sender, receiver *amqp.Receiver) {
		for _, text := range []string{"m", "behind"} {
			put(ctx, sender, text)
			collect(ctx, receiver, text)
		}
	})
}

func abandon(ctx context.Context) {
	onQueue(ctx, "abandon", func(sender *amqp.Sender, receiver *amqp.Receiver) {
		put(ctx, sender, "m")
		for count := range uint32(3) {
			got := report.Get(receiver.Receive(ctx, nil))
			report.Equal(got.Header.DeliveryCount, count)
			report.Must(receiver.ModifyMessage(ctx, got, &amqp.ModifyMessageOptions{DeliveryFailed: true}))
		}
		collect(ctx, receiver, "m")
	})
}

func deadLetter(ctx context.Context) {
	connected(ctx, func(s *amqp.Session) {
		put(ctx, report.Get(s.NewSender(ctx, "deadletter", nil)), "m")
		receiver := report.Get(s.NewReceiver(ctx, "deadletter", nil))
		got := report.Get(receiver.Receive(ctx, nil))
		report.Must(receiver.RejectMessage(ctx, got, &amqp.Error{Condition: "com.microsoft:dead-letter", Description: "because"}))
		collect(ctx, report.Get(s.NewReceiver(ctx, "deadletter/$DeadLetterQueue", nil)), "m")
	})
}

func session(ctx context.Context) {
	connected(ctx, func(s *amqp.Session) {
		sender := report.Get(s.NewSender(ctx, "session", nil))
		for _, name := range []string{"a", "b"} {
			m := amqp.NewMessage([]byte(name))
			m.Properties = &amqp.MessageProperties{GroupID: &name}
			report.Must(sender.Send(ctx, m, nil))
		}
		collect(ctx, report.Get(s.NewReceiver(ctx, "session", &amqp.ReceiverOptions{
			Filters: []amqp.LinkFilter{amqp.NewLinkFilter("com.microsoft:session-filter", 0x00000137000000C, "b")},
		})), "b")
	})
}

func topic(ctx context.Context) {
	connected(ctx, func(s *amqp.Session) {
		sender, receiver := report.Get(s.NewSender(ctx, "events", nil)), report.Get(s.NewReceiver(ctx, "events/subscriptions/all", nil))
		put(ctx, sender, "m", "n")
		collect(ctx, receiver, "m", "n")
	})
}

func unknown(ctx context.Context) {
	connected(ctx, func(s *amqp.Session) {
		_, sending := s.NewSender(ctx, "nowhere", nil)
		_, receiving := s.NewReceiver(ctx, "nowhere", nil)
		report.Refused(sending, "amqp:not-found")
		report.Refused(receiving, "amqp:not-found")
	})
}

func wrongKey(ctx context.Context) {
	_, err := dial(ctx, "d3Jvbmc=")
	report.Refused(err, "SASL", "sasl")
}
