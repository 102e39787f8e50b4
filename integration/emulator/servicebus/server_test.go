package servicebus_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/coder/websocket"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := servicebus.Start(ctx, servicebus.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", AutoCreate: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close() }()

	client, err := azservicebus.NewClientFromConnectionString(server.ConnectionString(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = client.Close(ctx) }()
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("hello")}, nil); err != nil {
		fmt.Println(err)
		return
	}
	receiver, err := client.NewReceiverForQueue("orders", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	messages, err := receiver.ReceiveMessages(ctx, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(messages[0].Body), receiver.CompleteMessage(ctx, messages[0], nil))
	// Output: hello <nil>
}

// TestPortInUse shows that a start which fails leaves nothing behind.
func TestPortInUse(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = servicebus.Start(t.Context(), servicebus.Config{Addr: "127.0.0.1:0", HTTPAddr: taken.Addr().String()})
	listening, ok := errors.AsType[*servicebus.ListenError](err)
	if !ok || listening.Port != "HTTP" || listening.Addr != taken.Addr().String() {
		t.Error(err)
	}
}

// TestDataInUse shows that two emulators cannot share their data.
func TestDataInUse(t *testing.T) {
	config := servicebus.Config{Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Data: t.TempDir()}
	first := must.Get(servicebus.Start(t.Context(), config))(t)
	if _, err := servicebus.Start(t.Context(), config); !errors.Is(err, servicebus.ErrDataInUse) {
		t.Error(err)
	}
	select {
	case <-first.Done():
		t.Error("it has ended")
	default:
	}
	must.Do(t, first.Close())
	<-first.Done()
}

// TestBadEntity shows what people read about an entity that cannot be made.
func TestBadEntity(t *testing.T) {
	_, err := servicebus.Start(t.Context(), servicebus.Config{
		Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Entities: servicebus.Entities{Queues: []servicebus.Queue{{Name: "a b"}}},
	})
	if _, ok := errors.AsType[*servicebus.EntityError](err); !ok || !strings.HasPrefix(err.Error(), `queue "a b": The entity name`) {
		t.Error(err)
	}
}

func TestConnectionString(t *testing.T) {
	server := must.Get(servicebus.Start(t.Context(), servicebus.Config{Addr: ":0", HTTPAddr: "127.0.0.1:0"}))(t)
	got := server.ConnectionString()
	if !strings.HasPrefix(got, "Endpoint=sb://localhost:") ||
		!strings.HasSuffix(got, ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;") {
		t.Error(got)
	}
	must.Do(t, server.Close())
}

// TestConnectionStringRights shows that the string has the key that is good for the most, which admin clients need, whatever its name.
func TestConnectionStringRights(t *testing.T) {
	for _, test := range []struct {
		want   string
		rights map[string][]string
	}{
		{"root", map[string][]string{"listener": {"listen"}, "root": nil, "worker": {"send", "listen"}}},
		{"z", map[string][]string{"a": {"listen", "send"}, "z": {"manage"}}},
		{"a", map[string][]string{"a": nil, "b": nil}},
		{servicebus.DefaultKeyName, map[string][]string{"A": nil, servicebus.DefaultKeyName: nil}},
		{"b", map[string][]string{servicebus.DefaultKeyName: {"send"}, "a": {"listen"}, "b": {"send", "listen"}}},
	} {
		keys := map[string]string{}
		for name := range test.rights {
			keys[name] = "secret"
		}
		server := start(t, servicebus.Config{Keys: keys, Rights: test.rights})
		for _, text := range []string{server.ConnectionString(), server.AdminConnectionString()} {
			if !strings.Contains(text, ";SharedAccessKeyName="+test.want+";") {
				t.Errorf("%s has not the key %s", text, test.want)
			}
		}
	}
}

func TestBadConfig(t *testing.T) {
	for name, config := range map[string]servicebus.Config{
		"mode": {Auth: "loose"},
		"key":  {Keys: map[string]string{"name": ""}},
	} {
		if _, err := servicebus.Start(t.Context(), config); err == nil {
			t.Error(name)
		}
	}
}

// TestIdleReceiverStays shows that a receiver which waits for a message keeps its place when there is none left, and one that has not
// said anything does not.
func TestIdleReceiverStays(t *testing.T) {
	server := startREST(t, servicebus.Config{MaxConnections: 2})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	receiver := must.Get(connect(t, server.ConnectionString()).NewReceiverForQueue("q", nil))(t)
	got := make(chan error, 1)
	go func() {
		_, err := receiver.ReceiveMessages(ctx, 1, nil)
		got <- err
	}()
	wantReceivers(t, server, 1)
	silent := must.Get(new(net.Dialer).DialContext(ctx, "tcp", server.Addr()))(t)
	defer silent.Close()
	sender := must.Get(connect(t, server.ConnectionString()).NewSender("q", nil))(t)
	must.Do(t, sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("x")}, nil))
	must.Do(t, <-got)
	must.Do(t, silent.SetReadDeadline(time.Now().Add(patience)))
	if _, err := silent.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the silent one has its place: %v", err)
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // of a socket
	return ok && timeout.Timeout()
}

// TestSendBehindFlow shows that a client which leaves Nagle's algorithm on, as those of Node.js and Python do, does not wait for a
// delayed acknowledgement, 40 ms long, when it sends a message right behind a frame that has no answer.
func TestSendBehindFlow(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can be told to acknowledge at once")
	}
	server := start(t, servicebus.Config{AutoCreate: true})
	socket := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", server.Addr()))(t)
	defer socket.Close()
	must.Do(t, socket.(*net.TCPConn).SetNoDelay(false))
	frames := amqp.NewReader(socket, 1<<20)
	say := func(performative amqp.Performative, payload []byte) {
		must.Get(socket.Write(amqp.AppendFrame(nil, amqp.FrameAMQP, 0, performative, payload)))(t)
	}
	heard := func(done func(amqp.Performative) bool) {
		for {
			frame := must.Get(frames.Frame())(t)
			if performative, _, err := amqp.Decode(frame.Body); err != nil || done(performative) {
				return
			}
		}
	}
	must.Get(socket.Write(amqp.HeaderAMQP[:]))(t)
	must.Get(frames.Header())(t)
	say(&amqp.Open{ContainerID: "nagle", MaxFrameSize: 1 << 16}, nil)
	say(&amqp.Begin{IncomingWindow: 1000, OutgoingWindow: 1000}, nil)
	say(&amqp.Attach{Name: "s", Target: &amqp.Terminus{Address: "orders"}, Source: &amqp.Terminus{}}, nil)
	heard(func(p amqp.Performative) bool { _, credit := p.(*amqp.Flow); return credit })
	var took []time.Duration
	for i := range uint32(100) {
		began := time.Now()
		say(&amqp.Flow{NextIncomingID: amqp.Some(0), IncomingWindow: 1000, OutgoingWindow: 1000}, nil)
		say(&amqp.Transfer{DeliveryID: amqp.Some(i), DeliveryTag: []byte{1}, MessageFormat: amqp.Some(0)}, amqp.AppendData(nil, []byte("x")))
		heard(func(p amqp.Performative) bool { _, accepted := p.(*amqp.Disposition); return accepted })
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	if quarter := took[len(took)/4]; quarter > 30*time.Millisecond {
		t.Errorf("three of four sends take %v and more", quarter)
	}
}

// TestWebSocketPaths shows that AMQP is served at both paths that clients ask for: with a slash at the end, as .NET's and Python's do,
// and without.
func TestWebSocketPaths(t *testing.T) {
	server := start(t, servicebus.Config{})
	for _, path := range []string{"/$servicebus/websocket", "/$servicebus/websocket/"} {
		conn, _, err := websocket.Dial(t.Context(), "ws://"+server.HTTPAddr()+path, //nolint:bodyclose // Dial closes it
			&websocket.DialOptions{Subprotocols: []string{"AMQPWSB10"}})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		stream := websocket.NetConn(t.Context(), conn, websocket.MessageBinary)
		header := make([]byte, 8)
		_, err = stream.Write([]byte("AMQP\x00\x01\x00\x00"))
		if err == nil {
			_, err = io.ReadFull(stream, header)
		}
		if err != nil || string(header) != "AMQP\x00\x01\x00\x00" {
			t.Errorf("%s: %q, %v", path, header, err)
		}
		_ = conn.CloseNow()
	}
}
