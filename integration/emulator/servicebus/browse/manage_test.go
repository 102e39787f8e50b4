package browse_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/browse"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// limit bounds the messages of a queue, which no form does.
func (w *harness) limit(name string, size int64) error {
	info, err := w.broker.Entity(name)
	if err != nil {
		return err
	}
	info.Options.MaxMessageSize = size
	_, err = w.broker.Update(broker.QueueKind, name, info.Options)
	return err
}

// held are the fields that an entity has of itself.
var held = cmpopts.IgnoreFields(broker.Usage{}, "Created", "Updated", "Accessed")

// TestEntities makes one of each kind with all settings, and reads the same; and changes them.
func TestEntities(t *testing.T) {
	q := browse.Entity{Path: "a/q", Name: "a/q", Kind: browse.Queue, Options: browse.Options{
		Status: "Active", LockDuration: 30 * time.Second, DefaultTTL: time.Hour, MaxDeliveryCount: 3, DeadLetterOnExpiration: true,
		DuplicateDetection: true, DuplicateWindow: time.Minute, ForwardDeadLettersTo: "t", AutoDeleteOnIdle: 2 * time.Hour,
		MaxSize: 1 << 20, MaxMessageSize: 8 << 20, UserMetadata: "note", RequiresSession: true,
	}}
	topic := browse.Entity{Path: "t", Name: "t", Kind: browse.Topic, Subscriptions: 1, Options: browse.Options{
		Status: "SendDisabled", DefaultTTL: time.Hour, DuplicateDetection: true, DuplicateWindow: time.Minute, AutoDeleteOnIdle: time.Hour,
		MaxSize: 1 << 20, MaxMessageSize: 8 << 20, UserMetadata: "note",
	}}
	s := browse.Entity{Path: "t/Subscriptions/s", Name: "s", Topic: "t", Kind: browse.Subscription, Options: browse.Options{
		Status: "ReceiveDisabled", LockDuration: time.Minute, DefaultTTL: time.Hour, MaxDeliveryCount: 1, DeadLetterOnExpiration: true,
		DropOnFilterError: true, ForwardTo: "plain", ForwardDeadLettersTo: "plain", AutoDeleteOnIdle: time.Hour, UserMetadata: "note",
	}}
	w := open(t, queue("plain"), q, topic, s)
	wants := func(want ...browse.Entity) {
		t.Helper()
		for _, e := range want {
			got := must.Get(w.Entity(e.Path))(w.t)
			if diff := cmp.Diff(e, got, held); diff != "" {
				t.Errorf("%s: %s", e.Path, diff)
			}
		}
	}
	wants(q, topic, s)
	var paths []string
	for _, e := range w.Entities() {
		paths = append(paths, e.Path)
	}
	if got := fmt.Sprint(paths); got != "[a/q plain t t/Subscriptions/s]" {
		t.Errorf("there are %s", got)
	}
	must.Do(w.t, w.limit("a/q", 4096))
	q.MaxMessageSize, q.LockDuration, q.DefaultTTL, q.UserMetadata, q.ForwardDeadLettersTo, q.Status = 4096, time.Minute, 0, "", "", "Disabled"
	topic.DuplicateWindow, topic.MaxSize, topic.Status = 5*time.Minute, 0, "Active"
	s.ForwardTo, s.DropOnFilterError, s.MaxDeliveryCount = "", false, 9
	for _, e := range []browse.Entity{q, topic, s} {
		must.Do(w.t, w.Update(e))
	}
	wants(q, topic, s)
	q.RequiresSession = false
	if err := w.Update(q); !strings.Contains(browse.Reason(err), "RequiresSession property of an existing Queue cannot be changed") {
		t.Errorf("sessions: %v", err)
	}
	for _, path := range []string{s.Path, "t", "a/q"} {
		must.Do(w.t, w.Remove(path))
		if err := w.Remove(path); !browse.IsMissing(err) {
			t.Errorf("%s is removed twice: %v", path, err)
		}
		if err := w.Update(browse.Entity{Path: path}); !browse.IsMissing(err) {
			t.Errorf("%s is changed when it is gone: %v", path, err)
		}
	}
}

// TestForwardAddress keeps the address that an administration client has given for an entity that is forwarded to.
func TestForwardAddress(t *testing.T) {
	w := open(t, queue("to"))
	const address = "sb://somewhere.example/to"
	must.Get(w.broker.CreateQueue("from", broker.Options{ForwardTo: address}))(w.t)
	e := must.Get(w.Entity("from"))(w.t)
	if e.ForwardTo != "to" {
		t.Errorf("it forwards to %q", e.ForwardTo)
	}
	e.UserMetadata = "changed"
	must.Do(w.t, w.Update(e))
	if info, err := w.broker.Entity("from"); err != nil || info.Options.ForwardTo != address {
		t.Errorf("it forwards to %q, %v", info.Options.ForwardTo, err)
	}
}

// TestSessions lists sessions, with what they keep.
func TestSessions(t *testing.T) {
	q := queue("q")
	q.RequiresSession = true
	w := open(t, q)
	for _, id := range []string{"b", "a", "A2", "b"} {
		w.send("q", browse.Draft{Body: []byte("x"), SessionID: id})
	}
	source := must.Get(w.broker.Source("q"))(w.t)
	session := must.Get(source.Accept("b"))(w.t)
	defer session.Close()
	must.Get(source.SetSessionState("b", []byte(strings.Repeat("s", 5000))))(w.t)
	found, more, err := w.Sessions("q", "", 2)
	if err != nil || more != 1 || len(found) != 2 || found[0].ID != "A2" || found[1].ID != "a" || found[1].StateSize != -1 || !found[1].LockedUntil.IsZero() {
		t.Errorf("%+v and %d more, %v", found, more, err)
	}
	found, more, err = w.Sessions("q", "B", 2)
	if err != nil || more != 0 || len(found) != 1 || found[0].Messages != 2 || found[0].LockedUntil.IsZero() || found[0].StateSize != 5000 ||
		len(found[0].State) != broker.MaxSessionState || found[0].Updated.IsZero() {
		t.Errorf("%d found and %d more, %v", len(found), more, err)
	}
	if _, _, err := w.Sessions("none", "", 2); !browse.IsMissing(err) {
		t.Errorf("a queue that is not there: %v", err)
	}
}

// TestRules puts rules of each kind, reads the same, and asks them.
func TestRules(t *testing.T) {
	w := open(t, browse.Entity{Kind: browse.Topic, Name: "t"}, browse.Entity{Kind: browse.Subscription, Topic: "t", Name: "s"})
	const path = "t/Subscriptions/s"
	rules := []browse.Rule{
		{Name: "a", Kind: "false", Expression: "1=0"},
		{
			Name: "b", Kind: "correlation", Fields: []browse.Property{
				{Name: "sys.MessageId", Type: "string", Value: "m"}, {Name: "sys.Label", Type: "string", Value: "x"}, {Name: "n", Type: "long", Value: "7"},
			},
		},
		{
			Name: "c", Kind: "sql", Expression: "price > @limit", Action: "SET high = @limit; REMOVE price",
			Parameters: []browse.Property{{Name: "@limit", Type: "int", Value: "10"}},
		},
	}
	for _, r := range rules {
		must.Do(w.t, w.PutRule(path, r, false))
		if err := w.PutRule(path, r, false); browse.Reason(err) == "" {
			t.Errorf("%s is made twice: %v", r.Name, err)
		}
	}
	must.Do(w.t, w.PutRule(path, browse.Rule{Name: broker.DefaultRule, Kind: "false"}, true))
	must.Do(w.t, w.DeleteRule(path, broker.DefaultRule))
	if err := w.PutRule(path, browse.Rule{Name: broker.DefaultRule, Kind: "true"}, true); !browse.IsMissing(err) {
		t.Errorf("a rule is changed that is not there: %v", err)
	}
	got, err := w.Rules(path)
	must.Do(w.t, err)
	if diff := cmp.Diff(rules, got, cmpopts.IgnoreFields(browse.Rule{}, "Created")); diff != "" {
		t.Error(diff)
	}
	trials := must.Get(w.Try(path, browse.Draft{MessageID: "m", Subject: "x", Properties: []browse.Property{
		{Name: "n", Type: "string", Value: "7"}, {Name: "price", Type: "double", Value: "10.5"},
	}}))(w.t)
	passes := make([]bool, len(trials))
	for i, trial := range trials {
		passes[i] = trial.Passes
	}
	if fmt.Sprint(passes) != "[false false true]" {
		t.Errorf("the rules say %v", passes)
	}
	if last := trials[1].Reasons[len(trials[1].Reasons)-1]; last.Answer != "false" || last.Found[0].Type != "string" {
		t.Errorf("the number that is a text: %+v", last)
	}
	want := []browse.Change{{Property: "price", Before: "10.5 (double)", Removed: true}, {Property: "high", After: "10 (long)"}}
	if diff := cmp.Diff(want, trials[2].Changes); diff != "" {
		t.Error(diff)
	}
	w.send("t", browse.Draft{Body: []byte("x"), Properties: []browse.Property{{Name: "price", Type: "int", Value: "11"}}})
	sent := w.one(path, browse.Active)
	if trials, err = w.TryMessage(path, path, browse.Active, sent.Sequence); err != nil || trials[2].Passes { // its price is gone
		t.Errorf("%+v, %v", trials, err)
	}
}

// TestWrongRules refuses rules, and says which part is wrong.
func TestWrongRules(t *testing.T) {
	w := open(t, browse.Entity{Kind: browse.Topic, Name: "t"}, browse.Entity{Kind: browse.Subscription, Topic: "t", Name: "s"})
	for part, rule := range map[string]browse.Rule{
		"filter": {Kind: "sql", Expression: "price >"}, "action": {Kind: "true", Action: "SET"},
		"parameters": {Kind: "sql", Expression: "a = @b", Parameters: []browse.Property{{Name: "@b", Type: "int", Value: "x"}}},
		"fields":     {Kind: "correlation", Fields: []browse.Property{{Name: "sys.House", Value: "x"}}},
	} {
		rule.Name = "r"
		wrong, ok := errors.AsType[*browse.RuleError](w.PutRule("t/Subscriptions/s", rule, false))
		if !ok || wrong.Part != part || wrong.Error() == "" {
			t.Errorf("%s: %v", part, wrong)
		}
	}
	if err := w.PutRule("t/Subscriptions/none", browse.Rule{Name: "r", Kind: "true"}, false); !browse.IsMissing(err) {
		t.Errorf("a subscription that is not there: %v", err)
	}
}
