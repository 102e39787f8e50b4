package broker_test

import (
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func topic(t *testing.T, f func(t *testing.T, b *broker.Broker)) {
	t.Helper()
	onFakeTime(t, func(t *testing.T, b *broker.Broker) {
		must.Get(b.CreateTopic("t", broker.Options{}))(t)
		f(t, b)
	})
}

func sql(tb testing.TB, expression string) filter.Filter {
	tb.Helper()
	return must.Get(filter.ParseSQL(expression, nil))(tb)
}

func subscribe(tb testing.TB, b *broker.Broker, name string, options broker.Options, rules ...broker.Rule) {
	tb.Helper()
	must.Get(b.CreateSubscription("t", name, options, nil))(tb)
	for _, rule := range rules {
		must.Get(b.CreateRule("t", name, rule))(tb)
	}
	if len(rules) > 0 {
		must.Do(tb, b.DeleteRule("t", name, broker.DefaultRule))
	}
}

func TestSubscriptions(t *testing.T) {
	topic(t, func(t *testing.T, b *broker.Broker) {
		subscribe(t, b, "all", broker.Options{})
		subscribe(t, b, "red", broker.Options{}, broker.Rule{Name: "r", Filter: sql(t, "sys.Label = 'red'")})
		subscribe(t, b, "some", broker.Options{},
			broker.Rule{Name: "a", Filter: must.Get(filter.NewCorrelation(filter.CorrelationFilter{Label: "red"}))(t)},
			broker.Rule{Name: "b", Filter: sql(t, "n > 1")})
		subscribe(t, b, "none", broker.Options{}, broker.Rule{Name: "no", Filter: filter.FalseFilter()})
		send(t, b, "t", spec{id: "0", label: "grey"}, spec{id: "1", label: "red"},
			spec{id: "2", label: "red", properties: amqp.Map{{Key: "n", Value: int64(2)}}},
			spec{id: "3", properties: amqp.Map{{Key: "n", Value: int64(2)}}})
		wantIDs(t, peek(t, b, "t/Subscriptions/all"), "0", "1", "2", "3")
		wantIDs(t, peek(t, b, "T/subscriptions/RED"), "1", "2")
		wantIDs(t, peek(t, b, "t/Subscriptions/some"), "1", "2", "3") // once, whatever rules match
		wantIDs(t, peek(t, b, "t/Subscriptions/none"))
		m := first(t, b, "t/Subscriptions/red")
		if m.Sequence != 1 || m.MessageAnnotations().Get("x-opt-enqueue-sequence-number") != int64(2) {
			t.Errorf("numbers %d, %v", m.Sequence, m.MessageAnnotations())
		}
		_, err := b.Source("t")
		wantCondition(t, err, broker.NotAllowed)
		_, err = b.Target("t/Subscriptions/all")
		wantCondition(t, err, broker.NotAllowed)
	})
}

func TestActions(t *testing.T) {
	topic(t, func(t *testing.T, b *broker.Broker) {
		subscribe(t, b, "s", broker.Options{RequiresSession: true},
			broker.Rule{Name: "a", Action: must.Get(filter.ParseAction("SET sys.SessionId = 'a'; SET n = n + 1", nil))(t)},
			broker.Rule{Name: "b", Action: must.Get(filter.ParseAction("SET sys.SessionId = 'b'; REMOVE n", nil))(t)},
			broker.Rule{Name: "c", Filter: sql(t, "n = 1")})
		send(t, b, "t", spec{id: "1", session: "c", properties: amqp.Map{{Key: "n", Value: int64(1)}}})
		got := map[string]any{}
		for _, d := range must.Get(source(t, b, "t/subscriptions/s").Peek(0, 10, nil))(t) {
			m := parse(t, d)
			got[m.Properties().GroupID] = m.ApplicationProperties().Get("n")
			if string(m.Data()[0]) != "body of 1" {
				t.Error("the body has changed")
			}
		}
		if len(got) != 3 || got["a"] != int64(2) || got["b"] != nil || got["c"] != int64(1) {
			t.Errorf("%v", got)
		}
		wantIDs(t, must.Get(source(t, b, "t/subscriptions/s").Sessions(time.Time{}, 0, 10))(t), "a", "b", "c")
	})
}

func TestFilterErrors(t *testing.T) {
	topic(t, func(t *testing.T, b *broker.Broker) {
		bad := broker.Rule{Name: "bad", Filter: sql(t, "1/0 = 1")}
		subscribe(t, b, "keep", broker.Options{}, bad)
		subscribe(t, b, "drop", broker.Options{DropOnFilterError: true}, bad)
		subscribe(t, b, "session", broker.Options{RequiresSession: true})
		send(t, b, "t", spec{id: "1"})
		wantIDs(t, peek(t, b, "t/subscriptions/keep"))
		wantReason(t, first(t, b, "t/subscriptions/keep/$DeadLetterQueue"), "FilterEvaluationException")
		wantIDs(t, peek(t, b, "t/subscriptions/drop/$DeadLetterQueue"))
		wantReason(t, first(t, b, "t/subscriptions/session/$DeadLetterQueue"), "Session ID is null")
	})
}

func TestScheduleOnTopic(t *testing.T) {
	topic(t, func(t *testing.T, b *broker.Broker) {
		subscribe(t, b, "s", broker.Options{DefaultTTL: time.Minute})
		send(t, b, "t", spec{id: "1", at: time.Now().Add(time.Hour)})
		wantIDs(t, peek(t, b, "t/subscriptions/s"))
		if counts := must.Get(b.Entity("t"))(t).Usage.Counts; counts.Scheduled != 1 {
			t.Errorf("%+v", counts)
		}
		pass(time.Hour)
		wantIDs(t, peek(t, b, "t/subscriptions/s"), "1")
		if counts := must.Get(b.Entity("t"))(t).Usage.Counts; counts.Total() != 0 {
			t.Errorf("%+v", counts)
		}
		pass(time.Minute)
		wantIDs(t, peek(t, b, "t/subscriptions/s"))
	})
}

func TestRules(t *testing.T) {
	topic(t, func(t *testing.T, b *broker.Broker) {
		must.Get(b.CreateSubscription("t", "s", broker.Options{}, &broker.Rule{Name: "own", Filter: sql(t, "a = 1")}))(t)
		_, err := b.CreateRule("t", "s", broker.Rule{Name: "OWN"})
		wantCondition(t, err, broker.EntityExists)
		must.Get(b.CreateRule("t", "s", broker.Rule{Name: "Another"}))(t)
		rules := must.Get(b.Rules("t", "s"))(t)
		if len(rules) != 2 || rules[0].Name != "Another" || rules[1].Filter.Expression() != "a = 1" || rules[0].Created.IsZero() {
			t.Errorf("%+v", rules)
		}
		must.Get(b.UpdateRule("t", "s", broker.Rule{Name: "own", Filter: sql(t, "a = 2")}))(t)
		if rule := must.Get(b.Rule("t", "s", "own"))(t); rule.Filter.Expression() != "a = 2" {
			t.Errorf("%+v", rule)
		}
		wantCondition(t, b.DeleteRule("t", "s", "missing"), broker.RuleNotFound)
		_, err = b.UpdateRule("t", "s", broker.Rule{Name: "missing"})
		wantCondition(t, err, broker.RuleNotFound)
		_, err = b.Rule("t", "s", "missing")
		wantCondition(t, err, broker.RuleNotFound)
		_, err = b.Rules("t", "missing")
		wantCondition(t, err, broker.NotFound)
	})
}

func TestForward(t *testing.T) {
	onFakeTime(t, func(t *testing.T, b *broker.Broker) {
		must.Get(b.CreateQueue("a", broker.Options{ForwardTo: "t"}))(t)
		must.Get(b.CreateTopic("t", broker.Options{}))(t)
		must.Get(b.CreateSubscription("t", "s", broker.Options{ForwardTo: "sb://host/b/"}, nil))(t)
		must.Get(b.CreateQueue("b", broker.Options{ForwardDeadLettersTo: "dead", DeadLetterOnExpiration: true}))(t)
		must.Get(b.CreateQueue("dead", broker.Options{}))(t)
		send(t, b, "b", spec{id: "0"})
		send(t, b, "a", spec{id: "1"})
		wantIDs(t, peek(t, b, "b"), "0", "1")
		d := must.Get(source(t, b, "b").Peek(2, 1, nil))(t)
		if m := parse(t, d[0]); m.MessageAnnotations().Get("x-opt-enqueue-sequence-number") != int64(1) {
			t.Errorf("%v", m.MessageAnnotations())
		}
		_, err := source(t, b, "a").Receive(broker.ReceiverConfig{})
		wantCondition(t, err, broker.NotAllowed)
		r := receive(t, b, "b", broker.ReceiverConfig{})
		r.SetCredit(1)
		r.settle(r.next(), broker.Outcome{Kind: broker.MoveDeadLetter, Reason: "why"})
		m := first(t, b, "dead")
		wantReason(t, m, "why")
		if m.id() != "0" || m.MessageAnnotations().Get("x-opt-deadletter-source") != "b" {
			t.Errorf("%v", m.MessageAnnotations())
		}
		send(t, b, "b", spec{id: "2", ttl: time.Second})
		pass(time.Second)
		wantIDs(t, peek(t, b, "dead"), "0", "2")
		if counts := must.Get(b.Entity("a"))(t).Usage.Counts; counts.Total() != 0 {
			t.Errorf("%+v", counts)
		}
	})
}

func TestForwardThatCannot(t *testing.T) {
	onFakeTime(t, func(t *testing.T, b *broker.Broker) {
		const transfer = "/$Transfer/$DeadLetterQueue"
		must.Get(b.CreateQueue("x", broker.Options{ForwardTo: "y"}))(t)
		must.Get(b.CreateQueue("y", broker.Options{ForwardTo: "x"}))(t)
		send(t, b, "x", spec{id: "loop"})
		wantReason(t, first(t, b, "x"+transfer), "MaxTransferHopCountExceeded")
		must.Get(b.CreateQueue("a", broker.Options{ForwardTo: "later"}))(t)
		send(t, b, "a", spec{id: "lost"})
		wantReason(t, first(t, b, "a"+transfer), "MessagingEntityNotFound")
		must.Get(b.CreateQueue("later", broker.Options{RequiresSession: true}))(t)
		send(t, b, "a", spec{id: "no session"}, spec{id: "fine", session: "s"})
		wantIDs(t, peek(t, b, "later"), "fine")
		wantIDs(t, peek(t, b, "a"+transfer), "lost", "no session")
		if counts := must.Get(b.Entity("a"))(t).Usage.Counts; counts.TransferDeadLetter != 2 || counts.Total() != 2 {
			t.Errorf("%+v", counts)
		}
		must.Get(b.CreateQueue("was", broker.Options{}))(t)
		send(t, b, "was", ids(600)...)
		must.Get(b.Update(broker.QueueKind, "was", broker.Options{ForwardTo: "now"}))(t)
		if n := len(peek(t, b, "was"+transfer)); n != 600 {
			t.Errorf("%d messages have gone on", n)
		}
	})
}

func TestDuplicatesOnTopic(t *testing.T) {
	onFakeTime(t, func(t *testing.T, b *broker.Broker) {
		must.Get(b.CreateTopic("t", broker.Options{DuplicateDetection: true}))(t)
		must.Get(b.CreateSubscription("t", "s", broker.Options{}, nil))(t)
		send(t, b, "t", spec{id: "1"}, spec{id: "1"})
		wantIDs(t, peek(t, b, "t/subscriptions/s"), "1")
	})
}

func twoQueues(t *testing.T, f func(t *testing.T, b *broker.Broker, r *client, m got)) {
	t.Helper()
	queue(t, broker.Options{LockDuration: 10 * time.Second}, func(t *testing.T, b *broker.Broker) {
		must.Get(b.CreateQueue("other", broker.Options{}))(t)
		send(t, b, "q", spec{id: "in"})
		r := receive(t, b, "q", broker.ReceiverConfig{})
		r.SetCredit(10)
		f(t, b, r, r.next())
	})
}

func TestCommit(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *broker.Broker, r *client, m got) {
		txn := b.Begin()
		must.Get(target(t, b, "other").Send([]amqp.Message{build(t, spec{id: "out"})}, txn))(t)
		must.Get(r.source.Settle(m.Token, broker.Outcome{}, txn))(t)
		_, err := r.source.Settle(m.Token, broker.Outcome{}, nil)
		wantCondition(t, err, broker.NotAllowed)
		wantIDs(t, peek(t, b, "other"))
		wantIDs(t, peek(t, b, "q"), "in")
		must.Get(txn.Commit())(t)
		wantIDs(t, peek(t, b, "other"), "out")
		wantIDs(t, peek(t, b, "q"))
		_, err = txn.Commit()
		wantCondition(t, err, broker.NotAllowed)
	})
}

func TestRollback(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *broker.Broker, r *client, m got) {
		txn := b.Begin()
		must.Get(target(t, b, "other").Send([]amqp.Message{build(t, spec{id: "out"})}, txn))(t)
		must.Get(r.source.Settle(m.Token, broker.Outcome{}, txn))(t)
		txn.Rollback()
		wantIDs(t, peek(t, b, "other"))
		r.settle(m, broker.Outcome{}) // still locked
	})
}

func TestCommitAfterLockIsLost(t *testing.T) {
	twoQueues(t, func(t *testing.T, b *broker.Broker, r *client, m got) {
		txn := b.Begin()
		must.Get(target(t, b, "other").Send([]amqp.Message{build(t, spec{id: "out"})}, txn))(t)
		must.Get(r.source.Settle(m.Token, broker.Outcome{}, txn))(t)
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
		must.Get(target(t, b, "other").Send([]amqp.Message{build(t, spec{id: "out"})}, txn))(t)
		must.Get(r.source.Settle(m.Token, broker.Outcome{}, txn))(t)
		must.Do(t, b.Delete("other"))
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
		must.Get(to.Send([]amqp.Message{half}, txn))(t)
		_, err := to.Send([]amqp.Message{half}, txn)
		wantCondition(t, err, broker.ResourceLimitExceeded)
		txn.Rollback()

		txn = b.Begin()
		must.Get(to.Send([]amqp.Message{half}, txn))(t)
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
		must.Get(b.CreateQueue("q", broker.Options{}))(t)
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
		must.Get(txn.Commit())(t)
		if n := must.Get(b.Entity("q"))(t).Usage.Active; n != int64(most) {
			t.Errorf("tier %q: %d messages in the queue", tier, n)
		}
		stop()
	}
}
