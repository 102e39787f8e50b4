package servicebus_test

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// keyed has a queue with a key of its own, for sending.
const keyed = `{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "orders", "Properties": {
  "AuthorizationRules": [{"KeyName": "shop", "PrimaryKey": "c2hvcA==", "SecondaryKey": "c2hvcDI=", "Rights": ["Send"]}]
}}, {"Name": "bills"}]}]}}`

// TestEntityKeys shows that Azure's SDK sends with the keys of a queue, and does neither receive from it nor send to another one.
func TestEntityKeys(t *testing.T) {
	entities := must.Get(servicebus.ReadConfig(strings.NewReader(keyed)))(t)
	server := start(t, servicebus.Config{
		Auth: servicebus.Strict, Entities: entities,
		Keys: map[string]string{"root": "cm9vdA=="}, Rights: map[string][]string{"root": {"manage"}},
	})
	check := func(key string) {
		text := "Endpoint=sb://" + server.Addr() + ";SharedAccessKeyName=shop;SharedAccessKey=" + key + ";UseDevelopmentEmulator=true"
		client := connect(t, text)
		send := func(queue string) error {
			sender, err := client.NewSender(queue, nil)
			if err != nil {
				return err
			}
			return sender.SendMessage(t.Context(), &azservicebus.Message{Body: []byte("x")}, nil)
		}
		must.Do(t, send("orders"))
		if err := send("bills"); err == nil {
			t.Error("the key opens another queue")
		}
		receiver := must.Get(client.NewReceiverForQueue("orders", nil))(t)
		if _, err := receiver.ReceiveMessages(t.Context(), 1, nil); err == nil || !strings.Contains(err.Error(), "'Listen' claim(s) are required") {
			t.Errorf("received: %v", err)
		}
	}
	check("c2hvcA==")
	check("c2hvcDI=")
}

// TestBadKeys shows what is said of keys that cannot be.
func TestBadKeys(t *testing.T) {
	_, err := servicebus.ReadConfig(strings.NewReader(`{"UserConfig": {"Namespaces": [{"Queues": [{"Name": "q", "Properties": {
		"AuthorizationRules": [{"Rights": ["Read"]}, {"KeyName": "k", "PrimaryKey": "p"}]}}]}]}}`))
	const at = "UserConfig.Namespaces[0].Queues[0].Properties.AuthorizationRules"
	for _, want := range []string{
		at + "[0].KeyName: is missing", at + "[0].PrimaryKey: is missing", at + `[0].Rights: right "Read" is not Send, Listen or Manage`,
		at + "[1].Rights: is missing: some of Send, Listen and Manage",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
	_, err = servicebus.Start(t.Context(), servicebus.Config{Rights: map[string][]string{"nobody": {"write"}}})
	if err == nil || !strings.Contains(err.Error(), `there is no key "nobody"`) || !strings.Contains(err.Error(), `"write" is not Send`) {
		t.Error(err)
	}
}
