package rest_test

import "testing"

// TestRequestsOfClients sends what clients of Azure Scheduler differ in, as their generators write it: members that are null
// (.NET and PowerShell before 3.0), names that begin with capitals (the portal's templates), types of authentication that
// stand for none, times without an offset, filters as OData libraries write them, and bodies of operations that have none.
func TestRequestsOfClients(t *testing.T) {
	const c, job = managed + "/c", managed + "/c/jobs/j"
	const request = `"request":{"uri":"http://x.example","method":"GET"`
	azure(t).steps([]step{
		{
			"PUT", c + version, `{"location":"West US","tags":null,"properties":{"sku":{"name":"standard"},"state":null,"quota":null}}`,
			`201 "location":"West US"|"sku":{"name":"Standard"},"state":"Enabled"`,
		},
		{"PUT", c + version, `{"Location":"West US","Properties":{"Sku":{"Name":"Standard"},"State":"ENABLED"}}`, `200 "result":"unchanged"`},
		{
			"PUT", c + version, `{"properties":{"sku":{"name":"P20Premium"},"quota":{"maxJobCount":9,"maxJobOccurrence":null,"maxRecurrence":null}}}`,
			`200 "maxJobCount":9`,
		},
		{
			"PUT", job + version, `{"id":null,"type":null,"name":null,"properties":{"startTime":"2099-07-13T00:00:00","action":{"type":"Http",` + request +
				`,"body":null,"headers":null,"authentication":null},"queueMessage":null,"serviceBusQueueMessage":null,"serviceBusTopicMessage":null,` +
				`"retryPolicy":null,"errorAction":null},"recurrence":null,"state":null,"status":null}}`,
			`201 "startTime":"2099-07-13T00:00:00Z"|"state":"enabled"`,
		},
		{
			"PUT", job + version, `{"Properties":{"StartTime":"2099-07-13T00:00:00Z","Action":{"Type":"HTTP","Request":{"Uri":"http://x.example","Method":"get"},` +
				`"RetryPolicy":{"RetryType":"FIXED","RetryInterval":"00:01:00","RetryCount":2}},"Recurrence":{"Frequency":"WEEK","Schedule":{"WeekDays":["monday"]}}}}`,
			`200 "retryType":"fixed","retryInterval":"00:01:00","retryCount":2|"frequency":"week"|"weekDays":["Monday"]`,
		},
		{
			"PUT", job + version, `{"properties":{"startTime":"2099-07-13T00:00:00.1234567Z","action":{"type":"Http",` + request + `,"authentication":{"type":"NotSpecified"}}}}}`,
			`200 "startTime":"2099-07-13T00:00:00.1234567Z"`,
		},
		{ // a recorded session: words in any letter case are told in Azure's, and the key is not shown
			"PUT", job + version, `{"properties":{"startTime":"2099-01-01T00:00:00Z","action":{"type":"SERVICEBUSQUEUE","serviceBusQueueMessage":{"queueName":"q",
			"namespace":"n","transportType":"NetMessaging","authentication":{"type":"SharedAccessKey","sasKeyName":"k","sasKey":"` + secret + `"},"message":"m"},
			"retryPolicy":{"retryType":"FIXED","retryInterval":"0.00:05:00","retryCount":3}},"recurrence":{"frequency":"WEEK"},"state":"ENABLED"}}`,
			`200 "type":"ServiceBusQueue"|"transportType":"netMessaging"|"type":"sharedAccessKey","sasKeyName":"k"}|"retryType":"fixed"|"frequency":"week"|"state":"enabled"`,
		},
		{"GET", c + "/jobs" + version + "&$filter=State%20eq%20'Enabled'", "", `200 "name":"c/j"`},
		{"GET", c + "/jobs" + version + "&%24filter=%28state+eq+%27Disabled%27%29&%24top=5&%24skip=0", "", `200 {"value":[],"nextLink":null}`},
		{"GET", c + "/jobs" + version + "&$filter=", "", `200 "name":"c/j"`},
		{"POST", job + "/run" + version, `{}`, `200`},
		{"POST", c + "/disable" + version, "", `200`},
		{"POST", c + "/enable" + version, `{}`, `200`},
	})
}
