package storagequeue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/internal/hostile"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
)

// hostileSeeds are requests that are right.
var hostileSeeds = func() []string {
	const account = "/devstoreaccount1"
	var requests []string
	for _, r := range []struct{ line, headers, body string }{
		{"PUT " + account + "/orders", "x-ms-meta-Kind: a\r\n", ""},
		{"PUT " + account + "/orders?comp=metadata", "x-ms-meta-Kind: b\r\n", ""},
		{"GET " + account + "/orders?comp=metadata", "", ""},
		{"GET " + account + "?comp=list&prefix=q&marker=a&maxresults=5&include=metadata", "", ""},
		{"POST " + account + "/orders/messages?visibilitytimeout=1&messagettl=60", "", "<QueueMessage><MessageText>aGVsbG8=</MessageText></QueueMessage>"},
		{"GET " + account + "/orders/messages?numofmessages=32&visibilitytimeout=30", "", ""},
		{"GET " + account + "/orders/messages?peekonly=true", "", ""},
		{"PUT " + account + "/orders/messages/1?popreceipt=a&visibilitytimeout=0", "", "<QueueMessage><MessageText>x</MessageText></QueueMessage>"},
		{"DELETE " + account + "/orders/messages/1?popreceipt=a", "", ""},
		{"DELETE " + account + "/orders/messages", "", ""},
		{"DELETE " + account + "/orders", "", ""},
		{"PUT " + account + "/orders?comp=acl", "", "<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy><Start>2020-01-01T00:00:00Z</Start>" +
			"<Expiry>2030-01-01T00:00:00Z</Expiry><Permission>raup</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"},
		{"GET " + account + "/orders?comp=acl", "", ""},
		{"PUT " + account + "?restype=service&comp=properties", "", "<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete>" +
			"<Read>true</Read><Write>true</Write><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Logging><Cors><CorsRule>" +
			"<AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods><MaxAgeInSeconds>5</MaxAgeInSeconds><ExposedHeaders>*" +
			"</ExposedHeaders><AllowedHeaders>*</AllowedHeaders></CorsRule></Cors></StorageServiceProperties>"},
		{"GET " + account + "?restype=service&comp=properties", "", ""},
		{"GET " + account + "-secondary?restype=service&comp=stats", "", ""},
		{"OPTIONS " + account + "/orders", "Origin: http://localhost\r\nAccess-Control-Request-Method: GET\r\n", ""},
		{"GET " + account + "/orders?comp=metadata&sv=2021-12-02&ss=q&srt=sco&sp=rwdlacup&se=2030-01-01T00:00:00Z&st=2020-01-01T00:00:00Z&spr=https,http&sig=YQ%3D%3D", "", ""},
		{"GET /metrics", "", ""},
	} {
		requests = append(requests, fmt.Sprintf("%s HTTP/1.1\r\nHost: 127.0.0.1\r\nx-ms-version: 2021-12-02\r\nx-ms-date: Thu, 01 Jan 2026 00:00:00 GMT\r\n"+
			"Authorization: SharedKey devstoreaccount1:YQ==\r\n%sContent-Length: %d\r\n\r\n%s", r.line, r.headers, len(r.body), r.body))
	}
	return requests
}()

func TestHostileRequests(t *testing.T) {
	alarms := &hostile.Alarms{}
	server := start(t, storagequeue.Config{Keys: storagequeue.Lenient, Logger: alarms.Logger()})
	hostile.Check(t, strings.TrimPrefix(server.URL(), "http://"), hostileSeeds, alarms)
}
