package servicebus_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
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
	first, err := servicebus.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := servicebus.Start(t.Context(), config); !errors.Is(err, servicebus.ErrDataInUse) {
		t.Error(err)
	}
	select {
	case <-first.Done():
		t.Error("it has ended")
	default:
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
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
	server, err := servicebus.Start(t.Context(), servicebus.Config{Addr: ":0", HTTPAddr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	got := server.ConnectionString()
	if !strings.HasPrefix(got, "Endpoint=sb://localhost:") ||
		!strings.HasSuffix(got, ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;") {
		t.Error(got)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
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
		server, err := servicebus.Start(t.Context(), servicebus.Config{
			Addr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", Keys: keys, Rights: test.rights,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{server.ConnectionString(), server.AdminConnectionString()} {
			if !strings.Contains(text, ";SharedAccessKeyName="+test.want+";") {
				t.Errorf("%s has not the key %s", text, test.want)
			}
		}
		if err := server.Close(); err != nil {
			t.Error(err)
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
