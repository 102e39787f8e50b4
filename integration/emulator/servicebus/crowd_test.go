package servicebus_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
)

// TestIdleReceiverStays shows that a receiver which waits for a message keeps its place when there is none left, and one that has not
// said anything does not.
func TestIdleReceiverStays(t *testing.T) {
	server := startREST(t, servicebus.Config{MaxConnections: 2})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	connect := func() *azservicebus.Client {
		client, err := azservicebus.NewClientFromConnectionString(server.ConnectionString(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close(context.Background()) })
		return client
	}
	receiver, err := connect().NewReceiverForQueue("q", nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() {
		_, err := receiver.ReceiveMessages(ctx, 1, nil)
		got <- err
	}()
	wantReceivers(t, server, 1)
	silent, err := new(net.Dialer).DialContext(ctx, "tcp", server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	sender, err := connect().NewSender("q", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.SendMessage(ctx, &azservicebus.Message{Body: []byte("x")}, nil); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	if err := silent.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("the silent one has its place: %v", err)
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // of a socket
	return ok && timeout.Timeout()
}
