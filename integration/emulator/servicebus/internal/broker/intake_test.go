package broker_test

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// TestIDsInCharacters has ids and keys at the limit of 128 characters, as .NET counts them, and one character beyond it.
func TestIDsInCharacters(t *testing.T) {
	queue(t, broker.Options{}, func(t *testing.T, b *broker.Broker) {
		for what, build := range map[string]func(id string) amqp.Message{
			"message id":    func(id string) amqp.Message { return build(t, spec{id: id}) },
			"session id":    func(id string) amqp.Message { return build(t, spec{session: id}) },
			"partition key": func(id string) amqp.Message { return build(t, spec{partition: id}) },
		} {
			for _, most := range []string{
				strings.Repeat("a", 128),
				strings.Repeat("é", 128), // 256 bytes
				strings.Repeat("€", 128),
				strings.Repeat("𝄞", 64), // 64 runes, 128 code units
			} {
				if _, err := target(t, b, "q").Send([]amqp.Message{build(most)}, nil); err != nil {
					t.Errorf("%s %q: %v", what, most, err)
				}
				_, err := target(t, b, "q").Send([]amqp.Message{build(most + "a")}, nil)
				wantCondition(t, err, broker.InvalidField)
			}
		}
	})
}

// TestAcceptCountsCharacters accepts a session by an id at the limit, and one beyond it.
func TestAcceptCountsCharacters(t *testing.T) {
	sessionQueue(t, func(t *testing.T, b *broker.Broker) {
		for _, most := range []string{strings.Repeat("é", 128), strings.Repeat("𝄞", 64)} {
			if _, err := source(t, b, "q").Accept(most); err != nil {
				t.Errorf("%q: %v", most, err)
			}
			_, err := source(t, b, "q").Accept(most + "a")
			wantCondition(t, err, broker.InvalidField)
		}
	})
}

func TestMessageWithoutID(t *testing.T) {
	queue(t, broker.Options{}, func(t *testing.T, b *broker.Broker) {
		send(t, b, "q", spec{}, spec{})
		all := peek(t, b, "q")
		if len(all) != 2 || len(all[0]) != 32 || all[0] == all[1] {
			t.Errorf("ids %v", all)
		}
	})
}
