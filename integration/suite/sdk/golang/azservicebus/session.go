package main

import (
	"context"
	"errors"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/suite/sdk/golang/report"
)

func putInto(ctx context.Context, queue, session string, texts ...string) error {
	sender, err := client.NewSender(queue, nil)
	if err != nil {
		return err
	}
	for _, text := range texts {
		err = errors.Join(err, sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(text), SessionID: &session}, nil))
	}
	return errors.Join(err, sender.Close(ctx))
}

func session(ctx context.Context) error {
	for _, name := range []string{"a", "b"} {
		if err := putInto(ctx, "session", name, name+"0", name+"1"); err != nil {
			return err
		}
	}
	for _, name := range []string{"b", "a"} {
		receiver, err := client.AcceptSessionForQueue(ctx, "session", name, nil)
		if err != nil {
			return err
		}
		if err := errors.Join(collect(ctx, receiver, name+"0", name+"1"), receiver.Close(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func nextSession(ctx context.Context) error {
	if err := putInto(ctx, "next", "s", "m"); err != nil {
		return err
	}
	receiver, err := client.AcceptNextSessionForQueue(ctx, "next", nil)
	if err != nil {
		return err
	}
	return errors.Join(report.Equal(receiver.SessionID(), "s"), collect(ctx, receiver, "m"), receiver.Close(ctx))
}

func sessionState(ctx context.Context) error {
	receiver, err := client.AcceptSessionForQueue(ctx, "state", "s", nil)
	if err != nil {
		return err
	}
	before, err := receiver.GetSessionState(ctx, nil)
	err = errors.Join(err, receiver.SetSessionState(ctx, []byte("\x00state"), nil))
	after, bad := receiver.GetSessionState(ctx, nil)
	until := receiver.LockedUntil()
	err = errors.Join(err, bad, report.Equal(len(before), 0), report.Equal(string(after), "\x00state"), receiver.RenewSessionLock(ctx, nil))
	return errors.Join(err, report.Equal(receiver.LockedUntil().Before(until), false), receiver.Close(ctx))
}

func lockedSession(ctx context.Context) error {
	receiver, err := client.AcceptSessionForQueue(ctx, "lockedsession", "s", nil)
	if err != nil {
		return err
	}
	_, err = client.AcceptSessionForQueue(ctx, "lockedsession", "s", nil)
	return errors.Join(report.Refused(err, "session-cannot-be-locked", "timeout"), receiver.Close(ctx))
}
