package node_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestPatchSendsNoSecretElsewhere patches jobs of every type so that a secret that the patch does not bring would be shown
// to somebody else, or in another way. Whoever may patch a job, but not read its secrets, could have them sent home.
func TestPatchSendsNoSecretElsewhere(t *testing.T) {
	w := newVaultWorld(t)
	web := func(members string) string {
		return `"type": "Https", "request": {"method": "GET", "uri": "https://shop.example/a", ` + members + `}`
	}
	const message = `"message": "m"`
	file := w.pfx("pl+nted-pfx-password")
	for _, test := range []struct {
		name, action string
		refused      []string // patches of the action
		taken        []string
	}{
		{
			"header", web(`"headers": {"X-Api-Key": "pl+nted"}`),
			[]string{
				`{"request": {"uri": "https://evil.example/a"}}`, `{"request": {"uri": "https://shop.example:444/a"}}`,
				`{"type": "Http", "request": {"uri": "http://shop.example/a"}}`,
				`{"request": {"headers": {"Host": "evil.example"}}}`, `{"request": {"headers": {"hOST": "shop.example:81"}}}`,
				`{"request": {"method": "POST", "uri": "https://evil.example/a"}}`,
			},
			[]string{
				`{"request": {"headers": {"Host": "SHOP.example"}}}`, `{"request": {"method": "POST", "uri": "https://Shop.example:443/b"}}`,
				`{"request": {"headers": {"Host": "other.example", "X-Api-Key": "mine"}}}`,
			},
		},
		{
			"virtual", web(`"headers": {"Host": "virtual.example", "X-Api-Key": "pl+nted"}`),
			[]string{`{"request": {"headers": {"Host": null}}}`, `{"request": {"headers": {"Host": "evil.example"}}}`},
			[]string{`{"request": {"headers": {"Host": "VIRTUAL.example"}}}`},
		},
		{
			"webhook", web(`"webhook": {"secret": "whsec_cGxhbnRlZHBsYW50ZWRwbGFudGVkcGxhbnRlZA=="}`),
			[]string{`{"request": {"headers": {"Host": "evil.example"}}}`}, nil,
		},
		{
			"token", web(`"authentication": {"type": "OAuth2", "tokenUrl": "https://login.example/t", "clientId": "c", "secret": "pl+nted", "audience": "a"}`),
			[]string{
				`{"request": {"authentication": {"tokenUrl": "https://evil.example/t"}}}`,
				`{"request": {"authentication": {"audience": "everything"}}}`, `{"request": {"authentication": {"audience": null}}}`,
				`{"request": {"authentication": {"scope": "everything"}}}`,
				`{"request": {"authentication": {"type": "ActiveDirectoryOAuth", "tenant": "evil", "audience": "a", "tokenUrl": null}}}`,
			},
			[]string{`{"request": {"authentication": {"authStyle": "body"}}}`, `{"request": {"authentication": {"audience": "b", "secret": "mine"}}}`},
		},
		{
			"directory", web(`"authentication": {"type": "ActiveDirectoryOAuth", "tenant": "t", "audience": "a", "clientId": "c", "secret": "pl+nted"}`),
			[]string{
				`{"request": {"authentication": {"tenant": "evil"}}}`, `{"request": {"authentication": {"audience": "b"}}}`,
				`{"request": {"authentication": {"type": "OAuth2", "tenant": null, "tokenUrl": "https://evil.example/"}}}`,
			}, nil,
		},
		{
			"certificate", web(fmt.Sprintf(`"authentication": {"type": "ClientCertificate", "pfx": %q, "password": "pl+nted-pfx-password"}`, file)),
			[]string{
				`{"request": {"authentication": {"type": "Basic", "username": "me", "pfx": null}}}`,
				`{"request": {"authentication": {"password": "guess"}}}`, `{"request": {"authentication": {"password": "pl+nted-pfx-password"}}}`,
				fmt.Sprintf(`{"request": {"authentication": {"pfx": %q}}}`, file),
				`{"request": {"uri": "https://evil.example/"}}`,
			},
			[]string{fmt.Sprintf(`{"request": {"authentication": {"pfx": %q, "password": "pl+nted-pfx-password"}}}`, file)},
		},
		{
			"basic", web(`"authentication": {"type": "Basic", "username": "me", "password": "pl+nted"}`),
			[]string{`{"request": {"uri": "https://evil.example/"}}`, `{"request": {"headers": {"Host": "evil.example"}}}`},
			[]string{`{"request": {"authentication": {"username": "you"}}}`, `{"request": {"authentication": null, "headers": {"Host": "evil.example"}}}`},
		},
		{
			"errorAction", web(`"body": ""`) + `, "errorAction": {` + web(`"headers": {"X-Api-Key": "pl+nted"}`) + `}`,
			[]string{
				`{"errorAction": {"request": {"uri": "https://evil.example/"}}}`, `{"errorAction": {"request": {"headers": {"Host": "evil.example"}}}}`,
			},
			[]string{`{"request": {"uri": "https://other.example/"}}`},
		},
		{
			"servers", `"type": "NatsMessage", "natsMessage": {"subject": "a", "servers": ["tls://n.example"], "user": "me", "password": "pl+nted"}`,
			[]string{
				`{"natsMessage": {"servers": ["tls://evil.example"]}}`, `{"natsMessage": {"servers": ["tls://n.example", "tls://evil.example"]}}`,
				`{"natsMessage": {"servers": ["nats://n.example"]}}`, `{"natsMessage": {"servers": ["tls://n.example:1"]}}`,
			},
			[]string{`{"natsMessage": {"subject": "b"}}`},
		},
		{
			"message", `"type": "NatsMessage", "natsMessage": {"subject": "a", "headers": {"X-Api-Key": "pl+nted"}}`,
			[]string{
				`{"natsMessage": {"subject": "evil"}}`, `{"natsMessage": {"servers": ["nats://evil.example"]}}`,
			},
			[]string{`{"natsMessage": {"message": "m"}}`},
		},
		{
			"bus", `"type": "ServiceBusQueue", "serviceBusQueueMessage": {"namespace": "shop", "queueName": "a", ` + message + `,
				"authentication": {"type": "sharedAccessKey", "sasKeyName": "n", "sasKey": "plntedpl+nted"}, "customMessageProperties": {"x": "y"}}`,
			[]string{`{"serviceBusQueueMessage": {"namespace": "evil"}}`, `{"serviceBusQueueMessage": {"namespace": "amqp://evil.example"}}`},
			[]string{`{"serviceBusQueueMessage": {"queueName": "b"}}`},
		},
		{
			"property", `"type": "ServiceBusTopic", "serviceBusTopicMessage": {"namespace": "shop", "topicPath": "a", ` + message + `,
				"authentication": {"sasKeyName": "n", "sasKey": "plntedpl+nted"}, "customMessageProperties": {"api-key": "pl+nted"}}`,
			[]string{`{"serviceBusTopicMessage": {"topicPath": "evil"}}`}, nil,
		},
		{
			"storage", `"type": "StorageQueue", "queueMessage": {"storageAccount": "shop", "queueName": "orders", ` + message + `,
				"sasToken": "sv=1&sp=a&sig=pl%2Bnted"}`,
			[]string{
				`{"queueMessage": {"storageAccount": "evil"}}`, `{"queueMessage": {"storageAccount": "http://evil.example/shop"}}`,
			},
			[]string{`{"queueMessage": {"queueName": "letters"}}`},
		},
	} {
		path := "/jobCollections/default/jobs/" + test.name
		w.put(http.MethodPut, path, `{"startTime": "2099-01-01", "action": {`+test.action+`}}`)
		before, _ := w.call(http.MethodGet, path, "")
		for _, patch := range test.refused {
			for _, query := range []string{"", "?dryRun=true"} {
				body := `{"action": ` + patch + `}`
				if !json.Valid([]byte(body)) {
					t.Fatal(body)
				}
				text, status := w.call(http.MethodPatch, path+query, body)
				if status != http.StatusBadRequest || !strings.Contains(text, "send it again") && !strings.Contains(text, "send both") {
					t.Errorf("%s%s: %s: %d %s", test.name, query, patch, status, text)
				}
			}
		}
		if after, _ := w.call(http.MethodGet, path, ""); after != before {
			t.Errorf("%s has changed:\n%s\n%s", test.name, before, after)
		}
		for _, patch := range test.taken {
			w.put(http.MethodPatch, path, `{"action": `+patch+`}`)
		}
	}
	for _, place := range w.dumps.places("pl+nted") {
		t.Errorf("shown in %s", place)
	}
}
