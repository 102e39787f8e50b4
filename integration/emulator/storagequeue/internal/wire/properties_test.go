package wire

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/google/go-cmp/cmp"
)

// sample are settings in which everything is set.
func sample() Properties {
	include := true
	kept := Retention{Enabled: true, Days: 7}
	return Properties{
		Logging:       Logging{Version: "1.0", Delete: true, Read: true, Write: true, Retention: kept},
		HourMetrics:   Metrics{Version: "1.0", Enabled: true, IncludeAPIs: &include, Retention: kept},
		MinuteMetrics: Metrics{Version: "2.0"},
		CORS: []Rule{
			{Origins: "*", Methods: "GET,PUT", AllowedHeaders: "x-ms-*", ExposedHeaders: "*", MaxAge: 5},
			{Origins: "https://a.example", Methods: "MERGE"},
		},
	}
}

func TestPropertiesRoundTrip(t *testing.T) {
	for _, want := range []Properties{DefaultProperties(), sample()} {
		got := must.Get(ParseProperties(want.Body(), Properties{}))(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestParseProperties(t *testing.T) {
	rule := func(inner string) string { return "<Cors><CorsRule>" + inner + "</CorsRule></Cors>" }
	const good = "<AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods><MaxAgeInSeconds>1</MaxAgeInSeconds>"
	tests := []struct {
		inner, code string
	}{
		{"", ""},
		{"<Cors/>", ""},
		{"<DefaultServiceVersion>2020-01-01</DefaultServiceVersion>", ""},
		{rule(good), ""},
		{"<Logging><Delete>true</Delete><Read>0</Read><Write>FALSE</Write></Logging>", ""},
		{"<Other/>", "UnsupportedXmlNode"},
		{"<Cors/><Cors/>", "InvalidXmlDocument"},
		{"<Cors>" + strings.Repeat("<CorsRule>"+good+"</CorsRule>", 6) + "</Cors>", "InvalidXmlDocument"},
		{rule(good + "<ExposedHeaders>" + strings.Repeat("x", 2<<10) + "</ExposedHeaders>"), "InvalidXmlDocument"},
		{rule(good + "<Other/>"), "UnsupportedXmlNode"},
		{"<Cors><Other/></Cors>", "UnsupportedXmlNode"},
		{rule("<AllowedMethods>GET</AllowedMethods>"), "MissingRequiredXmlNode"},
		{rule("<AllowedOrigins> </AllowedOrigins>"), "InvalidXmlNodeValue"},
		{rule(strings.Replace(good, "GET", "GET,FETCH", 1)), "InvalidXmlNodeValue"},
		{rule(strings.Replace(good, "1", "-1", 1)), "InvalidXmlNodeValue"},
		{rule(strings.Replace(good, "1", "x", 1)), "InvalidXmlNodeValue"},
		{"<Logging><Delete>true</Delete><Read>true</Read></Logging>", "MissingRequiredXmlNode"},
		{"<Logging><Version>3.0</Version></Logging>", "InvalidXmlNodeValue"},
		{"<HourMetrics><Enabled>maybe</Enabled></HourMetrics>", "InvalidXmlNodeValue"},
		{"<HourMetrics><Enabled>true</Enabled><IncludeAPIs>x</IncludeAPIs></HourMetrics>", "InvalidXmlNodeValue"},
		{"<HourMetrics><Enabled>true</Enabled><RetentionPolicy><Enabled>true</Enabled></RetentionPolicy></HourMetrics>", "MissingRequiredXmlNode"},
		{
			"<HourMetrics><Enabled>true</Enabled><RetentionPolicy><Enabled>true</Enabled><Days>366</Days></RetentionPolicy></HourMetrics>",
			"InvalidXmlNodeValue",
		},
	}
	for _, test := range tests {
		_, err := ParseProperties([]byte("<StorageServiceProperties>"+test.inner+"</StorageServiceProperties>"), DefaultProperties())
		if code(err) != test.code {
			t.Errorf("%.200s: got %v", test.inner, err)
		}
	}
}

func TestParsePropertiesKeeps(t *testing.T) {
	got, err := ParseProperties([]byte("<StorageServiceProperties><Cors/></StorageServiceProperties>"), sample())
	want := sample()
	want.CORS = nil
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestParsePolicies(t *testing.T) {
	one := func(inner string) string {
		return "<SignedIdentifiers><SignedIdentifier>" + inner + "</SignedIdentifier></SignedIdentifiers>"
	}
	many := strings.Repeat("<SignedIdentifier><Id>a</Id></SignedIdentifier>", 6)
	tests := []struct {
		body, code string
		want       []Policy
	}{
		{"", "", nil},
		{"<SignedIdentifiers/>", "", nil},
		{one("<Id>a</Id>"), "", []Policy{{ID: "a"}}},
		{one("<Id>a</Id><AccessPolicy><Start></Start><Permission>ar</Permission></AccessPolicy>"), "", []Policy{{ID: "a", Permission: "ar"}}},
		{
			one("<Id>a</Id><AccessPolicy><Expiry>9999-12-31T23:59:59.9999999Z</Expiry></AccessPolicy>"), "",
			[]Policy{{ID: "a", Expiry: Forever.Add(999_999_900)}},
		},
		{one("<Id>a</Id><AccessPolicy><Expiry>9999-12-31T23:59:59-01:00</Expiry></AccessPolicy>"), "InvalidXmlNodeValue", nil},
		{one("<Id>a</Id><AccessPolicy><Start>tomorrow</Start></AccessPolicy>"), "InvalidXmlNodeValue", nil},
		{one("<Id>a</Id><AccessPolicy><Permission>x</Permission></AccessPolicy>"), "InvalidXmlNodeValue", nil},
		{one("<Id>a</Id><AccessPolicy><Other/></AccessPolicy>"), "UnsupportedXmlNode", nil},
		{one("<Id>a</Id><Other/>"), "UnsupportedXmlNode", nil},
		{one(""), "MissingRequiredXmlNode", nil},
		{one("<Id>" + strings.Repeat("a", 65) + "</Id>"), "InvalidXmlDocument", nil},
		{"<SignedIdentifiers>" + many[:2*len(many)/6] + "</SignedIdentifiers>", "InvalidXmlNodeValue", nil}, // twice the same
		{"<SignedIdentifiers>" + many + "</SignedIdentifiers>", "InvalidXmlDocument", nil},
		{"<SignedIdentifiers><Other/></SignedIdentifiers>", "UnsupportedXmlNode", nil},
	}
	for _, test := range tests {
		got, err := ParsePolicies([]byte(test.body))
		if code(err) != test.code {
			t.Errorf("%s: got %v", test.body, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" && err == nil {
			t.Errorf("%s (-want +got):\n%s", test.body, diff)
		}
	}
}

func TestListing(t *testing.T) {
	l := Listing{Endpoint: `http://h/"a"`, Prefix: "p", Marker: "m", MaxResults: 2, NextMarker: "n"}
	l.Queues.Queue = []Queue{{Name: "pa"}, {Name: "pb", Metadata: NewMetadata(map[string]string{"b": "<", "A": "1"})}}
	got := string(l.Body())
	const want = `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="http://h/&#34;a&#34;"><Prefix>p</Prefix>` +
		`<Marker>m</Marker><MaxResults>2</MaxResults><Queues><Queue><Name>pa</Name></Queue><Queue><Name>pb</Name>` +
		`<Metadata><A>1</A><b>&lt;</b></Metadata></Queue></Queues><NextMarker>n</NextMarker></EnumerationResults>`
	if got != want {
		t.Errorf("got %s", got)
	}
}
