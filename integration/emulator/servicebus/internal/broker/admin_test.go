package broker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func TestOptions(t *testing.T) {
	b := broker.New(broker.Config{})
	want := broker.Options{LockDuration: time.Minute, MaxDeliveryCount: 10, DuplicateWindow: 10 * time.Minute, Status: broker.Active}
	if diff := cmp.Diff(want, must.Get(b.CreateQueue("Zeta", broker.Options{}))(t).Options); diff != "" {
		t.Error(diff)
	}
	want = broker.Options{
		LockDuration: time.Second, MaxDeliveryCount: 3, RequiresSession: true, DefaultTTL: time.Hour, DeadLetterOnExpiration: true,
		DuplicateDetection: true, DuplicateWindow: time.Second, ForwardDeadLettersTo: "zeta", AutoDeleteOnIdle: time.Hour, MaxSize: 1,
		MaxMessageSize: 2, Status: broker.SendDisabled, UserMetadata: "meta", Partitioning: true, Express: true, NoBatching: true,
	}
	must.Get(b.CreateQueue("alpha", want))(t)
	info := must.Get(b.Entity("ALPHA"))(t)
	if diff := cmp.Diff(want, info.Options); diff != "" || info.Name != "alpha" {
		t.Error(diff)
	}
	topic := broker.Options{
		DefaultTTL: time.Hour, DuplicateDetection: true, DuplicateWindow: time.Second, AutoDeleteOnIdle: time.Hour, MaxSize: 1, MaxMessageSize: 2,
		Status: broker.SendDisabled, UserMetadata: "meta", SupportOrdering: true, Partitioning: true, Express: true, NoBatching: true,
	}
	if diff := cmp.Diff(topic, must.Get(b.CreateTopic("topic", topic))(t).Options); diff != "" {
		t.Error(diff)
	}
	sub := broker.Options{
		LockDuration: time.Second, MaxDeliveryCount: 3, RequiresSession: true, DefaultTTL: time.Hour, DeadLetterOnExpiration: true,
		DropOnFilterError: true, ForwardDeadLettersTo: "zeta", AutoDeleteOnIdle: time.Hour, Status: broker.ReceiveDisabled, UserMetadata: "meta",
		NoBatching: true,
	}
	if diff := cmp.Diff(sub, must.Get(b.CreateSubscription("topic", "sub", sub, nil))(t).Options); diff != "" {
		t.Error(diff)
	}
	if got := paths(b); got != "[alpha Zeta topic topic/Subscriptions/sub]" {
		t.Errorf("the entities are %s", got)
	}
	if info := must.Get(b.Entity("topic"))(t); info.Subscriptions != 1 {
		t.Errorf("%+v", info)
	}
	if subs := must.Get(b.Subscriptions("topic"))(t); len(subs) != 1 || subs[0].Topic != "topic" || subs[0].Name != "sub" {
		t.Errorf("%+v", subs)
	}
}

func TestUpdates(t *testing.T) {
	b := broker.New(broker.Config{})
	must.Get(b.CreateTopic("t", broker.Options{}))(t)
	must.Get(b.CreateSubscription("t", "s", broker.Options{}, nil))(t)
	if info := must.Get(b.Update(broker.TopicKind, "t", broker.Options{UserMetadata: "new"}))(t); info.Options.UserMetadata != "new" {
		t.Errorf("%+v", info)
	}
	r := receive(t, b, "t/Subscriptions/s", broker.ReceiverConfig{})
	info := must.Get(b.Update(broker.SubscriptionKind, "t/Subscriptions/s", broker.Options{ForwardTo: "q", MaxDeliveryCount: 2}))(t)
	if info.Options.MaxDeliveryCount != 2 || info.Options.ForwardTo != "q" {
		t.Errorf("%+v", info)
	}
	wantCondition(t, r.Err(), broker.NotAllowed)
	if len(must.Get(b.Rules("t", "s"))(t)) != 1 {
		t.Error("the rules have changed")
	}
	must.Do(t, b.Delete("T/Subscriptions/S"))
	_, err := b.Update(broker.SubscriptionKind, "t/Subscriptions/s", broker.Options{})
	wantCondition(t, err, broker.NotFound)
}

func TestConflicts(t *testing.T) {
	b := broker.New(broker.Config{})
	must.Get(b.CreateQueue("q", broker.Options{}))(t)
	must.Get(b.CreateTopic("t", broker.Options{}))(t)
	must.Get(b.CreateSubscription("t", "s", broker.Options{}, nil))(t)
	try := func(want amqp.Symbol, err error) {
		t.Helper()
		wantCondition(t, err, want)
	}
	_, err := b.CreateQueue("Q", broker.Options{})
	try(broker.EntityExists, err)
	_, err = b.CreateQueue("T", broker.Options{})
	try(broker.EntityExists, err)
	_, err = b.CreateTopic("q", broker.Options{})
	try(broker.EntityExists, err)
	_, err = b.CreateSubscription("t", "S", broker.Options{}, nil)
	try(broker.EntityExists, err)
	_, err = b.CreateSubscription("q", "s", broker.Options{}, nil)
	try(broker.NotFound, err)
	_, err = b.Update(broker.QueueKind, "missing", broker.Options{})
	try(broker.NotFound, err)
	_, err = b.Update(broker.QueueKind, "t", broker.Options{})
	try(broker.NotFound, err)
	_, err = b.Update(broker.QueueKind, "q", broker.Options{RequiresSession: true})
	try(broker.ArgumentError, err)
	_, err = b.CreateSubscription("t", "a/b", broker.Options{}, nil)
	try(broker.ArgumentError, err)
	_, err = b.CreateRule("t", "s", broker.Rule{Name: "a/b"})
	try(broker.ArgumentError, err)
	for _, name := range []string{"", "/", "a//b", "-a", "a b", "ä", strings.Repeat("x", 261), "t/subscriptions/x", "a/$management"} {
		_, err = b.CreateQueue(name, broker.Options{})
		try(broker.ArgumentError, err)
	}
	for _, options := range []broker.Options{
		{LockDuration: -1},
		{MaxDeliveryCount: -1},
		{Status: "Odd"},
		{ForwardTo: "Z"},
		{ForwardTo: "sb://host/z"},
		{ForwardDeadLettersTo: "z"},
		{ForwardTo: "q", RequiresSession: true},
	} {
		_, err = b.CreateQueue("z", options)
		try(broker.ArgumentError, err)
	}
	try(broker.NotFound, b.Delete("t/Subscriptions/missing"))
	must.Do(t, b.Delete("T"))
	_, err = b.Entity("t/Subscriptions/s")
	try(broker.NotFound, err)
	_, err = b.Source("t/Subscriptions/s")
	try(broker.NotFound, err)
}

func TestPaths(t *testing.T) {
	b := broker.New(broker.Config{})
	must.Get(b.CreateQueue("Path/To/Queue", broker.Options{}))(t)
	must.Get(b.CreateTopic("Topic", broker.Options{}))(t)
	must.Get(b.CreateSubscription("topic", "Sub", broker.Options{}, nil))(t)
	for path, want := range map[string]string{
		"path/to/queue":                                      "Path/To/Queue",
		"/path/to/queue/":                                    "Path/To/Queue",
		"path/to/queue/$management":                          "Path/To/Queue",
		"path/to/queue/$deadletterqueue":                     "Path/To/Queue/$DeadLetterQueue",
		"path/to/queue/$DeadLetterQueue/$management":         "Path/To/Queue/$DeadLetterQueue",
		"TOPIC/SUBSCRIPTIONS/SUB":                            "Topic/Subscriptions/Sub",
		"Topic/Subscriptions/Sub/$Transfer/$DeadLetterQueue": "Topic/Subscriptions/Sub/$Transfer/$DeadLetterQueue",
	} {
		if s := source(t, b, path); s.Path() != want || !b.Exists(path) {
			t.Errorf("%s leads to %s", path, s.Path())
		}
	}
	for _, path := range []string{"", "/", "path/to", "topic/subscriptions/other", "topic/subscriptions/", "$management", "$cbs"} {
		if _, err := b.Source(path); broker.Condition(err) != broker.NotFound || b.Exists(path) {
			t.Errorf("%s leads somewhere: %v", path, err)
		}
	}
}

func TestAutoCreate(t *testing.T) {
	b := broker.New(broker.Config{AutoCreate: true})
	for _, path := range []string{"new/Subscriptions/sub", "other/Subscriptions/sub/$DeadLetterQueue", "queue"} {
		if !b.Exists(path) {
			t.Errorf("%s could not be", path)
		}
		source(t, b, path)
	}
	target(t, b, "new")
	target(t, b, "sent")
	if got := paths(b); got != "[queue sent new new/Subscriptions/sub other other/Subscriptions/sub]" {
		t.Errorf("the entities are %s", got)
	}
	receiver := must.Get(source(t, b, "queue").Receive(broker.ReceiverConfig{}))(t)
	defer receiver.Close()
	must.Get(b.CreateQueue("made", broker.Options{}))(t)
	for path, want := range map[string]bool{"sent": true, "queue": false, "new": false, "made": false} {
		if info := must.Get(b.Entity(path))(t); info.Undecided != want {
			t.Errorf("%s may be a queue or a topic: %t", path, info.Undecided)
		}
	}
	for _, path := range []string{"", "bad name", "queue/Subscriptions/x"} {
		_, err := b.Source(path)
		wantCondition(t, err, broker.NotFound)
	}
}

// TestQueueBecomesTopic shows that a sender may come before anybody has said that there are subscriptions.
func TestQueueBecomesTopic(t *testing.T) {
	dir := t.TempDir()
	b, stop := start(t, broker.Config{Dir: dir, AutoCreate: true})
	defer stop()
	send(t, b, "t", spec{id: "1", ttl: time.Hour}, spec{id: "2"})
	to := target(t, b, "t")
	wantIDs(t, peek(t, b, "t/Subscriptions/s"), "1", "2")
	must.Get(to.Send([]amqp.Message{build(t, spec{id: "3"})}, nil))(t)
	wantIDs(t, peek(t, b, "t/Subscriptions/s"), "1", "2", "3")
	must.Get(b.Entity("t"))(t)
	same(t, b, dir)
	must.Get(b.CreateQueue("asked-for", broker.Options{}))(t)
	_, err := b.Source("asked-for/Subscriptions/s")
	wantCondition(t, err, broker.NotFound)
}
