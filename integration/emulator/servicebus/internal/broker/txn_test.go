package broker_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

func twoQueues(t *testing.T, f func(t *testing.T, b *broker.Broker, r *client, m got)) {
	t.Helper()
	queue(t, broker.Options{LockDuration: 10 * time.Second}, func(t *testing.T, b *broker.Broker) {
		must(b.CreateQueue("other", broker.Options{}))
		send(t, b, "q", spec{id: "in"})
		r := receive(t, b, "q", broker.ReceiverConfig{})
		r.SetCredit(10)
		f(t, b, r, r.next())
	})
}

func TestCommit(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *broker.Broker, r *client, m got) {
		txn := b.Begin()
		if _, err := target(t, b, "other").Send([]amqp.Message{build(t, spec{id: "out"})}, txn); err != nil {
			t.Fatal(err)
		}
		if _, err := r.source.Settle(m.Token, broker.Outcome{}, txn); err != nil {
			t.Fatal(err)
		}
		_, err := r.source.Settle(m.Token, broker.Outcome{}, nil)
		wantCondition(t, err, broker.NotAllowed)
		wantIDs(t, peek(t, b, "other"))
		wantIDs(t, peek(t, b, "q"), "in")
		if _, err := txn.Commit(); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, peek(t, b, "other"), "out")
		wantIDs(t, peek(t, b, "q"))
		_, err = txn.Commit()
		wantCondition(t, err, broker.NotAllowed)
	})
}

func TestRollback(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *broker.Broker, r *client, m got) {
		txn := b.Begin()
		must(target(t, b, "other").Send([]amqp.Message{build(t, spec{id: "out"})}, txn))
		must(r.source.Settle(m.Token, broker.Outcome{}, txn))
		txn.Rollback()
		wantIDs(t, peek(t, b, "other"))
		r.settle(m, broker.Outcome{}) // still locked
	})
}

func TestCommitAfterLockIsLost(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *broker.Broker, r *client, m got) {
		txn := b.Begin()
		must(target(t, b, "other").Send([]amqp.Message{build(t, spec{id: "out"})}, txn))
		must(r.source.Settle(m.Token, broker.Outcome{}, txn))
		pass(10 * time.Second)
		_, err := txn.Commit()
		wantCondition(t, err, broker.TransactionRollback)
		wantIDs(t, peek(t, b, "other"))
		if again := r.next(); again.Header().DeliveryCount != 1 {
			t.Error("the delivery did not count")
		}
	})
}

func TestCommitToDeletedQueue(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *broker.Broker, r *client, m got) {
		txn := b.Begin()
		must(target(t, b, "other").Send([]amqp.Message{build(t, spec{id: "out"})}, txn))
		must(r.source.Settle(m.Token, broker.Outcome{}, txn))
		if err := b.Delete("other"); err != nil {
			t.Fatal(err)
		}
		_, err := txn.Commit()
		wantCondition(t, err, broker.TransactionRollback)
		r.settle(m, broker.Outcome{Kind: broker.Abandon})
	})
}

// TestTxnExceedsEntitySize sends messages in a transaction, of which each has room in the queue but not both together.
func TestTxnExceedsEntitySize(t *testing.T) {
	queue(t, broker.Options{MaxSize: 500}, func(t *testing.T, b *broker.Broker) {
		to, half := target(t, b, "q"), build(t, spec{id: "half", label: string(make([]byte, 300))})
		txn := b.Begin()
		must(to.Send([]amqp.Message{half}, txn))
		_, err := to.Send([]amqp.Message{half}, txn)
		wantCondition(t, err, broker.ResourceLimitExceeded)
		txn.Rollback()

		txn = b.Begin()
		must(to.Send([]amqp.Message{half}, txn))
		send(t, b, "q", spec{id: "other", label: string(make([]byte, 300))})
		_, err = txn.Commit()
		wantCondition(t, err, broker.TransactionRollback)
		wantIDs(t, peek(t, b, "q"), "other")
	})
}

// TestTxnOfManyMessages shows of how many messages a transaction may be.
func TestTxnOfManyMessages(t *testing.T) {
	for tier, most := range map[broker.Tier]int{"": 150, broker.Standard: 100} {
		b, stop := start(t, broker.Config{Tier: tier})
		must(b.CreateQueue("q", broker.Options{}))
		txn, sent := b.Begin(), 0
		var err error
		for err == nil && sent < 150 {
			if _, err = target(t, b, "q").Send([]amqp.Message{build(t, spec{})}, txn); err == nil {
				sent++
			}
		}
		if sent != most {
			t.Errorf("tier %q: %d messages, want %d: %v", tier, sent, most, err)
		}
		if _, err := txn.Commit(); err != nil {
			t.Error(err)
		}
		if n := must(b.Entity("q")).Usage.Active; n != int64(most) {
			t.Errorf("tier %q: %d messages in the queue", tier, n)
		}
		stop()
	}
}
