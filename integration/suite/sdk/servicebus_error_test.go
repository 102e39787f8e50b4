package sdk

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
)

func TestServiceBusAutoCreate(t *testing.T) {
	server := startBus(t, queue("orders", ""), func(c *servicebus.Config) { c.AutoCreate = true })
	client := dial(t, server)
	send(t, client, "new", text("x"))
	one(t, receiver(t, client, "new"), "x")
	if _, err := receiver(t, client, "events/s").ReceiveMessages(briefly(t, 100*time.Millisecond), 1, nil); err != context.DeadlineExceeded { //nolint:errorlint // the SDK returns it bare
		t.Fatal(err)
	}
	send(t, client, "events", text("y"))
	one(t, receiver(t, client, "events/s"), "y")
}

// TestServiceBusStrictKeys shows that strict mode wants the right key, and that the right key does.
func TestServiceBusStrictKeys(t *testing.T) {
	server := startBus(t, queue("orders", ""), func(c *servicebus.Config) {
		c.Auth, c.Keys = servicebus.Strict, map[string]string{"root": "c2VjcmV0"}
	})
	good := server.ConnectionString()
	if !strings.Contains(good, "SharedAccessKeyName=root;SharedAccessKey=c2VjcmV0") {
		t.Fatal(good)
	}
	send(t, dial(t, server), "orders", text("x"))
	for name, connection := range map[string]string{
		"wrong key":  strings.Replace(good, "c2VjcmV0", "d3Jvbmc=", 1),
		"wrong name": strings.Replace(good, "=root", "=toor", 1),
	} {
		client := dialString(t, connection, quick)
		err := sender(t, client, "orders").SendMessage(within(t), text("x"), nil)
		wantCode(t, err, azservicebus.CodeUnauthorizedAccess)
		if t.Failed() {
			t.Log(name)
		}
	}
	host := strings.TrimPrefix(strings.Split(good, ";")[0], "Endpoint=")
	token := servicebus.SignToken("root", "c2VjcmV0", host+"/orders", time.Now().Add(time.Hour))
	client := dialString(t, "Endpoint="+host+";SharedAccessSignature="+token+";UseDevelopmentEmulator=true", quick)
	send(t, client, "orders", text("by signature"))
}

// TestServiceBusAnyKey shows that lenient mode takes whatever key a program has.
func TestServiceBusAnyKey(t *testing.T) {
	server := startBus(t, queue("orders", ""))
	connection := strings.Replace(server.ConnectionString(), servicebus.DefaultKey, "anything", 1)
	send(t, dialString(t, strings.Replace(connection, servicebus.DefaultKeyName, "anyone", 1), quick), "orders", text("x"))
}
