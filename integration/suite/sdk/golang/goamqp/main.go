// The Service Bus emulator seen by go-amqp, an AMQP 1.0 client that knows nothing of Service Bus.
package main

import (
	"context"
	"errors"
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
func connected(ctx context.Context, key string, do func(*amqp.Session) error) error {
	parts := report.Connection("SERVICEBUS_CONNECTION_STRING")
	if key == "" {
		key = parts["SharedAccessKey"]
	}
	conn, err := amqp.Dial(ctx, "amqp://"+os.Getenv("SERVICEBUS_AMQP"), &amqp.ConnOptions{
		SASLType: amqp.SASLTypePlain(parts["SharedAccessKeyName"], key),
	})
	if err != nil {
		return err
	}
	session, err := conn.NewSession(ctx, nil)
	if err == nil {
		err = do(session)
	}
	return errors.Join(err, conn.Close())
}

// onQueue runs a function with a sender and a receiver of a queue.
func onQueue(ctx context.Context, queue string, do func(*amqp.Sender, *amqp.Receiver) error) error {
	return connected(ctx, "", func(s *amqp.Session) error {
		sender, err := s.NewSender(ctx, queue, nil)
		if err != nil {
			return err
		}
		receiver, err := s.NewReceiver(ctx, queue, nil)
		if err != nil {
			return err
		}
		return do(sender, receiver)
	})
}

func put(ctx context.Context, sender *amqp.Sender, texts ...string) error {
	for _, text := range texts {
		if err := sender.Send(ctx, amqp.NewMessage([]byte(text)), nil); err != nil {
			return err
		}
	}
	return nil
}

// collect receives messages with these texts and accepts them.
func collect(ctx context.Context, receiver *amqp.Receiver, want ...string) error {
	var got []string
	for range want {
		m, err := receiver.Receive(ctx, nil)
		if err != nil {
			return fmt.Errorf("%d of %d messages came: %w", len(got), len(want), err)
		}
		if err := receiver.AcceptMessage(ctx, m); err != nil {
			return err
		}
		got = append(got, string(m.GetData()))
	}
	return report.Same(got, want)
}

func send(ctx context.Context) error {
	return connected(ctx, "", func(s *amqp.Session) error {
		sender, err := s.NewSender(ctx, "send", nil)
		if err != nil {
			return err
		}
		if err := report.Sends(func(text string) error { return put(ctx, sender, text) }); err != nil {
			return err
		}
		receiver, err := s.NewReceiver(ctx, "send", &amqp.ReceiverOptions{Credit: 100})
		if err != nil {
			return err
		}
		return collect(ctx, receiver, report.Series(100)...)
	})
}

func both(ctx context.Context) error {
	return onQueue(ctx, "both", func(sender *amqp.Sender, receiver *amqp.Receiver) error {
		received := make(chan error, 1)
		go func() { received <- collect(ctx, receiver, report.Series(100)...) }()
		err := report.Sends(func(text string) error { return put(ctx, sender, text) })
		return errors.Join(err, <-received)
	})
}

func large(ctx context.Context) error {
	return onQueue(ctx, "large", func(sender *amqp.Sender, receiver *amqp.Receiver) error {
		text := string(make([]byte, 900_000))
		if err := put(ctx, sender, text); err != nil {
			return err
		}
		return errors.Join(collect(ctx, receiver, text), report.Refused(put(ctx, sender, string(make([]byte, 2_000_000))), "size", "large"))
	})
}

func properties(ctx context.Context) error {
	return onQueue(ctx, "properties", func(sender *amqp.Sender, receiver *amqp.Receiver) error {
		sent := map[string]any{
			"text": "ä€", "flag": true, "byte": int8(-5), "short": int16(-500), "int": int32(-5), "long": int64(1 << 40), "ubyte": uint8(5),
			"ushort": uint16(500), "uint": uint32(7), "ulong": uint64(1 << 63), "double": 1.5, "float": float32(0.5),
			"time": time.UnixMilli(1893553445000).UTC(), "uuid": amqp.UUID{1, 2, 3}, "null": nil,
		}
		subject := "label"
		m := amqp.NewMessage([]byte("m"))
		m.Properties = &amqp.MessageProperties{MessageID: "id", Subject: &subject}
		m.ApplicationProperties = sent
		if err := sender.Send(ctx, m, nil); err != nil {
			return err
		}
		got, err := receiver.Receive(ctx, nil)
		if err != nil {
			return err
		}
		for name, want := range sent {
			value := got.ApplicationProperties[name]
			if t, ok := value.(time.Time); ok {
				value = t.UTC()
			}
			err = errors.Join(err, report.Equal(value, want))
		}
		return errors.Join(err, report.Equal(*got.Properties.Subject, subject), receiver.AcceptMessage(ctx, got))
	})
}

func bodies(ctx context.Context) error {
	return onQueue(ctx, "bodies", func(sender *amqp.Sender, receiver *amqp.Receiver) error {
		for _, m := range []*amqp.Message{{Value: "text"}, {Data: [][]byte{[]byte("a"), []byte("b")}}, {Sequence: [][]any{{int64(1), "x"}}}} {
			if err := sender.Send(ctx, m, nil); err != nil {
				return err
			}
			got, err := receiver.Receive(ctx, nil)
			if err != nil {
				return err
			}
			err = report.Equal(fmt.Sprint(got.Value, got.Data, got.Sequence), fmt.Sprint(m.Value, m.Data, m.Sequence))
			if err := errors.Join(err, receiver.AcceptMessage(ctx, got)); err != nil {
				return err
			}
		}
		return nil
	})
}

func complete(ctx context.Context) error {
	return onQueue(ctx, "complete", func(sender *amqp.Sender, receiver *amqp.Receiver) error {
		return errors.Join(put(ctx, sender, "m"), collect(ctx, receiver, "m"), put(ctx, sender, "behind"), collect(ctx, receiver, "behind"))
	})
}

func abandon(ctx context.Context) error {
	return onQueue(ctx, "abandon", func(sender *amqp.Sender, receiver *amqp.Receiver) error {
		if err := put(ctx, sender, "m"); err != nil {
			return err
		}
		for count := range uint32(3) {
			got, err := receiver.Receive(ctx, nil)
			if err != nil {
				return err
			}
			err = errors.Join(report.Equal(got.Header.DeliveryCount, count), receiver.ModifyMessage(ctx, got, &amqp.ModifyMessageOptions{DeliveryFailed: true}))
			if err != nil {
				return err
			}
		}
		return collect(ctx, receiver, "m")
	})
}

func deadLetter(ctx context.Context) error {
	return connected(ctx, "", func(s *amqp.Session) error {
		sender, err := s.NewSender(ctx, "deadletter", nil)
		if err != nil {
			return err
		}
		receiver, err := s.NewReceiver(ctx, "deadletter", nil)
		if err != nil {
			return err
		}
		if err := put(ctx, sender, "m"); err != nil {
			return err
		}
		got, err := receiver.Receive(ctx, nil)
		if err != nil {
			return err
		}
		err = receiver.RejectMessage(ctx, got, &amqp.Error{Condition: "com.microsoft:dead-letter", Description: "because"})
		if err != nil {
			return err
		}
		dead, err := s.NewReceiver(ctx, "deadletter/$DeadLetterQueue", nil)
		if err != nil {
			return err
		}
		return collect(ctx, dead, "m")
	})
}

func session(ctx context.Context) error {
	return connected(ctx, "", func(s *amqp.Session) error {
		sender, err := s.NewSender(ctx, "session", nil)
		if err != nil {
			return err
		}
		for _, name := range []string{"a", "b"} {
			m := amqp.NewMessage([]byte(name))
			m.Properties = &amqp.MessageProperties{GroupID: &name}
			if err := sender.Send(ctx, m, nil); err != nil {
				return err
			}
		}
		receiver, err := s.NewReceiver(ctx, "session", &amqp.ReceiverOptions{
			Filters: []amqp.LinkFilter{amqp.NewLinkFilter("com.microsoft:session-filter", 0x00000137000000C, "b")},
		})
		if err != nil {
			return err
		}
		return collect(ctx, receiver, "b")
	})
}

func topic(ctx context.Context) error {
	return connected(ctx, "", func(s *amqp.Session) error {
		sender, err := s.NewSender(ctx, "events", nil)
		if err != nil {
			return err
		}
		receiver, err := s.NewReceiver(ctx, "events/subscriptions/all", nil)
		if err != nil {
			return err
		}
		return errors.Join(put(ctx, sender, "m", "n"), collect(ctx, receiver, "m", "n"))
	})
}

func unknown(ctx context.Context) error {
	return connected(ctx, "", func(s *amqp.Session) error {
		_, sending := s.NewSender(ctx, "nowhere", nil)
		_, receiving := s.NewReceiver(ctx, "nowhere", nil)
		return errors.Join(report.Refused(sending, "amqp:not-found"), report.Refused(receiving, "amqp:not-found"))
	})
}

func wrongKey(ctx context.Context) error {
	return report.Refused(connected(ctx, "d3Jvbmc=", func(*amqp.Session) error { return nil }), "SASL", "sasl")
}
