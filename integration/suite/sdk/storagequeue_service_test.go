package sdk

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"
	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func TestStorageQueueServiceProperties(t *testing.T) {
	w := newStorage(t)
	days := &azqueue.RetentionPolicy{Enabled: new(true), Days: seconds(5)}
	want := azqueue.SetPropertiesOptions{
		Logging: &azqueue.Logging{
			Version: new("1.0"), Read: new(true), Write: new(false), Delete: new(true), RetentionPolicy: days,
		},
		HourMetrics: &azqueue.Metrics{
			Version: new("1.0"), Enabled: new(true), IncludeAPIs: new(true), RetentionPolicy: days,
		},
		MinuteMetrics: &azqueue.Metrics{
			Version: new("1.0"), Enabled: new(false), RetentionPolicy: &azqueue.RetentionPolicy{Enabled: new(false)},
		},
		CORS: []*azqueue.CORSRule{{
			AllowedOrigins: new("https://a.example"), AllowedMethods: new("GET,PUT"), AllowedHeaders: new("x-ms-*"),
			ExposedHeaders: new("x-ms-request-id"), MaxAgeInSeconds: seconds(60),
		}},
	}
	must.Get(w.service.SetProperties(w.ctx, &want))(w.t)
	got := must.Get(w.service.GetServiceProperties(w.ctx, nil))(w.t)
	if diff := cmp.Diff(want, azqueue.SetPropertiesOptions{
		Logging: got.Logging, HourMetrics: got.HourMetrics, MinuteMetrics: got.MinuteMetrics, CORS: got.CORS,
	}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// What is left out stays.
	must.Get(w.service.SetProperties(w.ctx, &azqueue.SetPropertiesOptions{Logging: want.Logging}))(w.t)
	got = must.Get(w.service.GetServiceProperties(w.ctx, nil))(w.t)
	if diff := cmp.Diff(want.CORS, got.CORS); diff != "" || !*got.HourMetrics.Enabled {
		t.Errorf("after a partial change (-want +got):\n%s%+v", diff, got.HourMetrics)
	}
}

func TestStorageQueueBadServiceProperties(t *testing.T) {
	w := newStorage(t)
	url := w.url + "/?restype=service&comp=properties"
	differs := deviation(t, "it takes some wrong settings, and answers others without a code", false, true)
	for _, test := range []struct {
		body, code string
		azurites   string // status and code
	}{
		{"<StorageServiceProperties><Cors>", "InvalidXmlDocument", "400"},
		{"<Other/>", "InvalidXmlDocument", "500"},
		{"<StorageServiceProperties><Cors><CorsRule/></Cors></StorageServiceProperties>", "MissingRequiredXmlNode", "202"},
		{
			"<StorageServiceProperties><HourMetrics><Version>1.0</Version><Enabled>maybe</Enabled></HourMetrics></StorageServiceProperties>",
			"InvalidXmlNodeValue", "400",
		},
	} {
		reply := w.request(http.MethodPut, url, test.body, nil)
		want := "400 " + test.code
		if differs {
			want = test.azurites
		}
		if got := reply.summary(); got != want {
			t.Errorf("%s: got %s, want %s; %s", test.body, got, want, reply.body)
		}
	}
}

func TestStorageQueueStatistics(t *testing.T) {
	w := newStorage(t)
	_, err := w.service.GetStatistics(w.ctx, nil)
	w.refused(err, http.StatusBadRequest, queueerror.InvalidQueryParameterValue)
	secondary := must.Get(azqueue.NewServiceClientWithSharedKeyCredential(w.url+"-secondary", w.cred, storageOptions()))(w.t)
	got := must.Get(secondary.GetStatistics(w.ctx, nil))(w.t)
	if got.GeoReplication == nil || *got.GeoReplication.Status != "live" || got.GeoReplication.LastSyncTime.IsZero() {
		t.Errorf("got %+v", got.GeoReplication)
	}
	w.queue("orders")
	if _, err := secondary.NewQueueClient("orders").GetProperties(w.ctx, nil); err != nil {
		t.Errorf("the secondary does not have the queue: %v", err)
	}
	_, err = secondary.NewQueueClient("orders").Delete(w.ctx, nil)
	if deviation(t, "it lets the secondary be written to", false, true) {
		must.Do(w.t, err)
	} else {
		w.refused(err, http.StatusForbidden, queueerror.InsufficientAccountPermissions)
	}
}

func TestStorageQueueCORS(t *testing.T) {
	w := newStorage(t)
	preflight := func(origin, method, headers string) storageAnswer {
		t.Helper()
		r := must.Get(http.NewRequestWithContext(w.ctx, http.MethodOptions, w.url+"/orders/messages", http.NoBody))(w.t)
		for name, value := range map[string]string{
			"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers,
		} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		return w.plain(r)
	}
	if reply := preflight("https://a.example", http.MethodGet, ""); reply.status != http.StatusForbidden ||
		reply.header.Get("x-ms-error-code") != "CorsPreflightFailure" {
		t.Errorf("without a rule: got %v", reply)
	}
	must.Get(w.service.SetProperties(w.ctx, &azqueue.SetPropertiesOptions{CORS: []*azqueue.CORSRule{
		{
			AllowedOrigins: new("https://a.example,https://b.example"), AllowedMethods: new("GET,POST"),
			AllowedHeaders: new("x-ms-meta*,content-type"), ExposedHeaders: new("x-ms-request-id,x-ms-approx*"), MaxAgeInSeconds: seconds(60),
		},
		{AllowedOrigins: new("*"), AllowedMethods: new("PUT"), MaxAgeInSeconds: seconds(5)},
	}}))(w.t)
	for _, test := range []struct {
		origin, method, headers string
		status                  int
	}{
		{"https://a.example", "GET", "", 200},
		{"https://b.example", "POST", "x-ms-meta-a, Content-Type", 200},
		{"https://a.example", "POST", "authorization", 403},
		{"https://a.example", "DELETE", "", 403},
		{"https://c.example", "GET", "", 403},
		{"https://c.example", "PUT", "", 200},
		{"", "GET", "", 400},
		{"https://a.example", "", "", 400},
	} {
		reply := preflight(test.origin, test.method, test.headers)
		if reply.status != test.status {
			t.Errorf("%+v: got %d", test, reply.status)
		}
		if reply.status == http.StatusOK && reply.header.Get("Access-Control-Allow-Methods") != test.method {
			t.Errorf("%+v: got %v", test, reply.header)
		}
	}
	reply := preflight("https://a.example", "GET", "x-ms-meta-a")
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":      "https://a.example",
		"Access-Control-Allow-Headers":     "x-ms-meta-a",
		"Access-Control-Max-Age":           "60",
		"Access-Control-Allow-Credentials": "true",
	} {
		if got := reply.header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}

	w.queue("orders")
	reply = w.request(http.MethodGet, w.url+"/orders?comp=metadata", "", http.Header{"Origin": {"https://b.example"}})
	exposed := reply.header.Get("Access-Control-Expose-Headers")
	if reply.header.Get("Access-Control-Allow-Origin") != "https://b.example" || reply.header.Get("Vary") != "Origin" ||
		!strings.Contains(exposed, "x-ms-request-id") || !strings.Contains(exposed, "x-ms-approximate-messages-count") {
		t.Errorf("an actual request: got %v", reply.header)
	}
	reply = w.request(http.MethodGet, w.url+"/orders?comp=metadata", "", http.Header{"Origin": {"https://c.example"}})
	if got := reply.header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("a foreign origin: got %q", got)
	}
}

// plain sends a request without the SDK.
func (w *storageWorld) plain(r *http.Request) storageAnswer {
	w.t.Helper()
	answer, err := http.DefaultClient.Do(r)
	must.Do(w.t, err)
	defer answer.Body.Close()
	body := must.Get(io.ReadAll(answer.Body))(w.t)
	return storageAnswer{answer.StatusCode, answer.Header, string(body)}
}

func TestStorageQueueHeaders(t *testing.T) {
	w := newStorage(t)
	w.queue("orders")
	reply := w.request(http.MethodGet, w.url+"/orders?comp=metadata", "", http.Header{"X-Ms-Client-Request-Id": {"my-request"}})
	for name, want := range map[string]string{"x-ms-client-request-id": "my-request", "x-ms-version": ""} {
		if got := reply.header.Get(name); got == "" || want != "" && got != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
	must.Get(http.ParseTime(reply.header.Get("Date")))(t)
	wrong := deviation(t, "it answers wrong requests without a code, or does not notice", false, true)
	for _, test := range []struct {
		method, path string
		status       int
		code         string
		azurites     int
	}{
		{"GET", "/orders?comp=nonsense", 400, "InvalidQueryParameterValue", 400},
		{"GET", "/orders", 400, "MissingRequiredQueryParameter", 400},
		{"PATCH", "/orders?comp=metadata", 405, "UnsupportedHttpVerb", 400},
		{"GET", "/orders/other", 400, "InvalidUri", 200},
		{"GET", "/?comp=list&include=nonsense", 400, "InvalidQueryParameterValue", 400},
		{"GET", "/?comp=list&marker=nonsense", 400, "InvalidMarker", 200},
		{"GET", "/?comp=list&maxresults=nonsense", 400, "InvalidQueryParameterValue", 400},
		{"GET", "/orders?comp=metadata&timeout=nonsense", 400, "InvalidQueryParameterValue", 400},
	} {
		reply := w.request(test.method, w.url+test.path, "", nil)
		if wrong {
			if reply.status != test.azurites {
				t.Errorf("%s %s: got %d", test.method, test.path, reply.status)
			}
			continue
		}
		if reply.status != test.status || reply.header.Get("x-ms-error-code") != test.code || !strings.Contains(reply.body, "<Code>"+test.code+"</Code>") {
			t.Errorf("%s %s: got %d %s", test.method, test.path, reply.status, reply.body)
		}
	}
}
