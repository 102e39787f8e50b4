package main

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
)

// patience is how long the server may take to answer.
const patience = 10 * time.Second

// readSubject prints the messages of a NATS subject, with the id of the occurrence.
func readSubject(ctx context.Context, p *printer, o options) error {
	connection, err := nats.Connect(o.nats, nats.Name("consume"), nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	defer connection.Close()
	subscription, err := connection.SubscribeSync(o.subject)
	if err != nil {
		return err
	}
	if err := connection.FlushTimeout(patience); err != nil {
		return err
	}
	p.say("subscribed to " + o.subject)
	for {
		m, err := subscription.NextMsgWithContext(ctx)
		if err != nil {
			return err
		}
		p.print("subject "+m.Subject, m.Header.Get("Nats-Msg-Id"), string(m.Data), properties{})
	}
}
