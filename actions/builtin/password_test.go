package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/actions/actiontest"
	"github.com/carillon-sched/carillon/actions/builtin"
)

// passwordURIs have a password, pw31415926, where people write one by mistake, and where parsers find something else.
var passwordURIs = []string{
	"SCHEME://user:pw31415926@h/", "SCHEME://user:pw31415926/x@h/", "SCHEME://user:pw31415926", "SCHEME://user:pw31415926@h:99999/",
	"SCHEME://user:pw31415926@h:pw31415926/", "SCHEME://user:pw31415926%zz@h/", "SCHEME://user:%zpw31415926@h/",
	"SCHEME://user:pw31415926\x01@h/", "SCHEME://user:pw31415926 @h/", "SCHEME://user:pw31415926\r\nx@h/", "SCHEME://[user:pw31415926@h/",
	"SCHEME://h/%zpw31415926", "SCHEME://user:pw31415926@@h:80:80/", "SCHEME://user:pw31415926<@h/", "SCHEME://user:pw31415926\\@h/",
	"SCHEME://user:pw31415926#@h/", "SCHEME://user:pw31415926?@h/", "SCHEME://pw31415926@h:80", "SCHEME://pw31415926.h:bad/",
	"SCHEME://user:pw314159%326@h", "SCHEME://h:user:pw31415926@h", "SCHEME:user:pw31415926@h", "//user:pw31415926@h/", "user:pw31415926@h",
	"pw31415926@h", "pw31415926://h", "user:pw31415926@h://x", "SCHEME://u:\"pw31415926@h/", "SCHEME://u:\\\"pw31415926\"@h:x/",
}

// TestPasswordsInURIsAreNotShown puts them where an action has a URI, or a part of one.
func TestPasswordsInURIsAreNotShown(t *testing.T) {
	reader := builtin.New(builtin.Config{})
	for name, action := range map[string]string{
		"Http uri":               `{"request": {"method": "GET", "uri": URI}}`,
		"Https uri":              `{"request": {"method": "GET", "uri": URI}}`,
		"Http host":              `{"request": {"method": "GET", "uri": "http://h/", "headers": {"Host": URI}}}`,
		"Http tokenUrl":          `{"request": {"method": "GET", "uri": "http://h/", "authentication": {"type": "OAuth2", "clientId": "c", "secret": "s", "tokenUrl": URI}}}`,
		"Http tenant":            `{"request": {"method": "GET", "uri": "http://h/", "authentication": {"type": "ActiveDirectoryOAuth", "clientId": "c", "secret": "s", "audience": "a", "tenant": URI}}}`,
		"Http source":            `{"request": {"method": "POST", "uri": "http://h/", "envelope": "cloudEvents", "cloudEvent": {"source": URI, "dataSchema": URI}, "body": "x"}}`,
		"NatsMessage servers":    `{"natsMessage": {"subject": "x", "servers": URI}}`,
		"NatsMessage list":       `{"natsMessage": {"subject": "x", "servers": ["nats://a", URI]}}`,
		"ServiceBusQueue space":  `{"serviceBusQueueMessage": {"queueName": "q", "message": "m", "authentication": {"sasKeyName": "n", "sasKey": "k"}, "namespace": URI}}`,
		"ServiceBusTopic topic":  `{"serviceBusTopicMessage": {"namespace": "nsname", "message": "m", "authentication": {"sasKeyName": "n", "sasKey": "k"}, "topicPath": URI}}`,
		"ServiceBusQueue key":    `{"serviceBusQueueMessage": {"namespace": "nsname", "queueName": "q", "message": "m", "authentication": {"sasKeyName": URI, "sasKey": URI}}}`,
		"StorageQueue account":   `{"queueMessage": {"queueName": "qqq", "message": "m", "sasToken": "TOKEN", "storageAccount": URI}}`,
		"StorageQueue queueName": `{"queueMessage": {"storageAccount": "acc", "message": "m", "sasToken": URI, "queueName": URI}}`,
	} {
		kind, _, _ := strings.Cut(name, " ")
		refused := 0
		for _, scheme := range []string{"http", "https", "sb", "amqps", "nats", "ftp"} {
			for _, uri := range passwordURIs {
				uri = strings.ReplaceAll(uri, "SCHEME", scheme)
				quoted, err := json.Marshal(uri)
				if err != nil {
					t.Fatal(err)
				}
				_, _, err = actiontest.Read(t, reader, kind, strings.ReplaceAll(action, "URI", string(quoted)))
				if err == nil {
					continue
				}
				refused++
				if strings.Contains(strings.ToLower(err.Error()), "14159") {
					t.Errorf("%s: %s: %v", name, uri, err)
				}
			}
		}
		if refused < len(passwordURIs) {
			t.Errorf("%s: %d were refused", name, refused)
		}
	}
}
