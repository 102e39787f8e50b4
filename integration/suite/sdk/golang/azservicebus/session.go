package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func putInto(ctx context.Context, queue, session string, texts ...string) {
	sender := report.Get(client.NewSender(queue, nil))
	for _, text := range texts {
		report.Must(sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(text), SessionID: &session}, nil))
	}
	report.Must(sender.Close(ctx))
}

func session(ctx context.Context) {
	for _, name := range []string{"a", "b"} {
		putInto(ctx, "session", name, name+"0", name+"1")
	}
	for _, name := range []string{"b", "a"} {
		receiver := report.Get(client.AcceptSessionForQueue(ctx, "session", name, nil))
		collect(ctx, receiver, name+"0", name+"1")
		report.Must(receiver.Close(ctx))
	}
}

func nextSession(ctx context.Context) {
	putInto(ctx, "next", "s", "m")
	receiver := report.Get(client.AcceptNextSessionForQueue(ctx, "next", nil))
	report.Equal(receiver.SessionID(), "s")
	collect(ctx, receiver, "m")
	report.Must(receiver.Close(ctx))
}

func sessionState(ctx context.Context) {
	receiver := report.Get(client.AcceptSessionForQueue(ctx, "state", "s", nil))
	report.Equal(len(report.Get(receiver.GetSessionState(ctx, nil))), 0)
	report.Must(receiver.SetSessionState(ctx, []byte("\x00state"), nil))
	report.Equal(string(report.Get(receiver.GetSessionState(ctx, nil))), "\x00state")
	until := receiver.LockedUntil()
	report.Must(receiver.RenewSessionLock(ctx, nil))
	report.Equal(receiver.LockedUntil().Before(until), false)
	report.Must(receiver.Close(ctx))
}

func lockedSession(ctx context.Context) {
	receiver := report.Get(client.AcceptSessionForQueue(ctx, "lockedsession", "s", nil))
	_, err := client.AcceptSessionForQueue(ctx, "lockedsession", "s", nil)
	report.Refused(err, "session-cannot-be-locked", "timeout")
	report.Must(receiver.Close(ctx))
}
