package servicebus_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	emulator "github.com/carillon-sched/carillon/integration/emulator/servicebus"
)

// TestTimeouts ends attempts at every stage: none lasts much longer than its context, and the client closes soon.
func TestTimeouts(t *testing.T) {
	server := emulatortest.ServiceBus(t, emulator.Config{AutoCreate: true})
	stages := map[string]struct {
		namespace string
		fault     emulator.Fault
		warm      bool // with an open link
		stage     string
	}{
		"attach": {"amqp://" + server.Addr(), emulator.Fault{Operation: emulator.OpAttach, Delay: time.Minute}, false, " while connecting"},
		"send":   {"amqp://" + server.Addr(), emulator.Fault{Operation: emulator.OpSend, Delay: time.Minute}, true, " while waiting for the acknowledgement; the message may have arrived"},
	}
	for name, stage := range stages {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, servicebus.Config{KeyOptional: true})
			action := mustRead(t, client, "ServiceBusQueue", `{"serviceBusQueueMessage":{"namespace":"`+stage.namespace+`","queueName":"q1"}}`)
			if stage.warm {
				succeed(t, action, attempt())
			}
			if stage.fault.Delay > 0 {
				stage.fault.Count = 2
				server.Inject(stage.fault)
				defer server.Heal()
			}
			at := attempt()
			at.Timeout = 100 * time.Millisecond
			result := invoke(t, action, at)
			wantFailure(t, result, 0, false, " failed: timed out after 100ms"+stage.stage)
			if result.Blameless {
				t.Error("a timeout is nobody's fault")
			}
			if result.Duration > 10*time.Second {
				t.Errorf("timed out after %v", result.Duration)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(100*time.Millisecond, func() { cancel(errors.New("the worker is stopping")) })
			result = actiontest.Invoke(ctx, action, attempt())
			wantFailure(t, result, 0, false, " failed: canceled"+stage.stage+": the worker is stopping")
			if result.Duration > 10*time.Second {
				t.Errorf("canceled after %v", result.Duration)
			}
			begun := time.Now()
			client.Close()
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("closed after %v", took)
			}
		})
	}
}

// TestCloseEndsAttempts closes the client while attempts wait.
func TestCloseEndsAttempts(t *testing.T) {
	server, client := start(t)
	action := toQueue(t, client, "q1")
	server.Inject(emulator.Fault{Operation: emulator.OpSend, Count: 10, Delay: time.Minute})
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() { wantFailure(t, invoke(t, action, attempt()), 0, false, "the scheduler is stopping") })
	}
	eventually(t, func() bool { return len(server.Broker().Faults().All()) == 0 })
	client.Close()
	group.Wait()
}
