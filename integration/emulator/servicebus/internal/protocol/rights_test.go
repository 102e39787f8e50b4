package protocol_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/auth"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/protocol"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// strict is a keyring of a key for everything, one of each right for the namespace, and one of the queue.
func strict(c *protocol.Config) {
	c.Keys = auth.Keyring{
		Mode: auth.Strict,
		Keys: map[string]string{"root": "r", "sender": "s", "listener": "l", "manager": "m"},
		Rights: map[string]auth.Rights{
			"sender": auth.Send, "listener": auth.Listen, "manager": auth.All,
		},
		Entities: func() []auth.Key {
			return []auth.Key{{Name: "own", Texts: []string{"o"}, Entity: "orders", Rights: auth.Send}}
		},
	}
}

// putToken shows a token for the queue and returns the code of the answer. Links 8 and 9 are those to "$cbs".
func (p *peer) putToken(name, key string) (code int32, description string) {
	p.tb.Helper()
	p.attachSender(8, &amqp.Terminus{Address: "$cbs"})
	p.attachReceiver(9, "$cbs")
	p.credit(9, 10)
	token := auth.Sign(name, key, "sb://host/orders", time.Now().Add(time.Hour))
	p.transfer(8, nil, unaddressed(amqp.UUID{1}, amqp.Map{
		{Key: "operation", Value: "put-token"}, {Key: "type", Value: "servicebus.windows.net:sastoken"}, {Key: "name", Value: "sb://host/orders"},
	}, token))
	parameters := p.answered(9).ApplicationProperties()
	return parameters.Get("status-code").(int32), parameters.Get("status-description").(string)
}

// refusal attaches and returns why that is refused, or "".
func (p *peer) refusal(attach *amqp.Attach) string {
	p.tb.Helper()
	p.send(attach, nil)
	var refused bool
	if got := expect[*amqp.Attach](p); attach.Receiver {
		refused = got.Source == nil
	} else {
		refused = got.Target == nil
	}
	if !refused {
		return ""
	}
	got := expect[*amqp.Detach](p)
	if conditionOf(got.Error) != "amqp:unauthorized-access" {
		p.tb.Errorf("%+v", got.Error)
	}
	return got.Error.Description
}

// TestRightsOfKeys shows what clients with keys of single rights may do, and in which words the rest is refused.
func TestRightsOfKeys(t *testing.T) {
	w := newHarness(t, strict)
	tests := []struct {
		key, text                     string
		code                          int32
		send, listen, peek, scheduled bool
	}{
		{"root", "r", 202, true, true, true, true},
		{"manager", "m", 202, true, true, true, true},
		{"sender", "s", 202, true, false, false, true},
		{"listener", "l", 202, false, true, true, false},
		{"own", "o", 202, true, false, false, true},
		{"own", "x", 401, false, false, false, false},
		{"nobody", "x", 401, false, false, false, false},
	}
	for _, test := range tests {
		t.Run(test.key+test.text, func(t *testing.T) {
			p := w.connect(t)
			if code, description := p.putToken(test.key, test.text); code != test.code {
				t.Fatalf("%d %s", code, description)
			}
			sender := &amqp.Attach{Name: "s", Source: &amqp.Terminus{}, Target: &amqp.Terminus{Address: "orders"}}
			why := p.refusal(sender)
			if want := "'Send' claim(s) are required to perform this operation. Resource: 'sb://localhost/orders'"; (why == "") != test.send ||
				why != "" && !strings.Contains(why, want) {
				t.Errorf("send: %q", why)
			}
			receiver := &amqp.Attach{Name: "r", Handle: 1, Receiver: true, Source: &amqp.Terminus{Address: "orders"}}
			if why = p.refusal(receiver); (why == "") != test.listen || why != "" && !strings.Contains(why, "'Listen' claim(s) are required") {
				t.Errorf("listen: %q", why)
			}
			if test.code != 202 {
				return
			}
			p = w.connect(t)
			p.putToken(test.key, test.text)
			p.attachManagement()
			for operation, allowed := range map[string]bool{"peek-message": test.peek, "schedule-message": test.scheduled} {
				if code, _ := p.managed(operation, amqp.Map{}); (code != 401) != allowed {
					t.Errorf("%s: %d", operation, code)
				}
			}
		})
	}
}

// TestPlainRights shows that a client which gives a key instead of tokens may do what the key is for, with the key's entity alone.
func TestPlainRights(t *testing.T) {
	w := newHarness(t, strict)
	must.Get(w.broker.CreateQueue("others", broker.Options{}))(t)
	p := w.dial(t)
	p.write(amqp.HeaderSASL[:])
	p.header(amqp.HeaderSASL)
	p.saslFrame()
	p.write(amqp.AppendFrame(nil, amqp.FrameSASL, 0, &amqp.SASLInit{Mechanism: "PLAIN", Response: []byte("\x00own\x00o")}, nil))
	p.saslFrame()
	p.begin(amqp.Open{}, 1000)
	for i, test := range []struct {
		address  string
		receiver bool
		want     bool
	}{{"orders", false, true}, {"orders", true, false}, {"others", false, false}} {
		attach := &amqp.Attach{
			Name: test.address, Handle: uint32(i), Receiver: test.receiver,
			Source: &amqp.Terminus{Address: test.address}, Target: &amqp.Terminus{Address: test.address},
		}
		if why := p.refusal(attach); (why == "") != test.want {
			t.Errorf("%+v: %q", test, why)
		}
	}
}

func (p *peer) saslFrame() {
	p.tb.Helper()
	if frame, err := p.reader.Frame(); err != nil || frame.Kind != amqp.FrameSASL {
		p.tb.Fatalf("%+v, %v", frame, err)
	}
}

// TestNoToken shows that a client which keeps a connection alive and shows no good token is cut off after a minute where keys are
// looked at, and that one with a token is not.
func TestNoToken(t *testing.T) {
	for name, text := range map[string]string{"good": "r", "wrong": "x", "none": ""} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				logged := &logtest.Log{}
				p := inBubble(t, strict, func(c *protocol.Config) { c.Explain = slog.New(slog.NewTextHandler(logged, nil)) })
				if text != "" {
					p.putToken("root", text)
				}
				heartbeat := amqp.AppendFrame(nil, amqp.FrameAMQP, 0, nil, nil)
				beats := make(chan bool)
				go func() {
					defer close(beats)
					for range 12 {
						time.Sleep(10 * time.Second)
						if _, err := p.socket.Write(heartbeat); err != nil {
							return
						}
					}
				}()
				if name != "good" {
					p.ended("amqp:unauthorized-access")
					p.socket.Close()
				}
				<-beats
				synctest.Wait()
				if said := logged.String(); strings.Contains(said, "silent") || strings.Contains(said, "no good token") == (name == "good") {
					t.Error(said)
				}
				if name == "good" {
					p.attachSender(0, &amqp.Terminus{Address: "orders"})
				}
			})
		})
	}
}
