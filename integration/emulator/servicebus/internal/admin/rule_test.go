package admin

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/internal/exposition"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// none are the connections of a handler without any.
type none struct{}

func (none) Connections() int { return 0 }
func (none) Drop() int        { return 0 }

// A site is the administration of a broker, without a server.
type site struct {
	http.Handler

	broker *broker.Broker
}

func newSite(t *testing.T) site {
	t.Helper()
	b := broker.New(broker.Config{})
	s := site{New(Config{Broker: b, Connections: none{}, Metrics: exposition.New(MetricPrefix)}), b}
	s.do(t, http.MethodPut, "/t", entryOf(`<TopicDescription xmlns="`+busSpace+`"/>`), http.StatusCreated)
	s.do(t, http.MethodPut, "/t/Subscriptions/s", entryOf(`<SubscriptionDescription xmlns="`+busSpace+`"/>`), http.StatusCreated)
	return s
}

// entryOf is the body of a request.
func entryOf(description string) string {
	return `<entry xmlns="` + atomSpace + `"><content type="application/xml">` + description + `</content></entry>`
}

// do makes a request and returns the body of its answer.
func (s site) do(t *testing.T, method, path, body string, want int) string {
	t.Helper()
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	r := httptest.NewRequest(method, path+separator+"api-version=2021-05", strings.NewReader(body))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != want {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, w.Code, want, w.Body)
	}
	return w.Body.String()
}

// ruleOf is a rule with one parameter, whose element is as a client writes it.
func ruleOf(expression, value string) string {
	return entryOf(`<RuleDescription xmlns="` + busSpace + `" xmlns:i="` + instanceSpace + `"><Filter i:type="SqlFilter"><SqlExpression>` +
		expression + `</SqlExpression><Parameters><KeyValueOfstringanyType><Key>@p</Key>` + value +
		`</KeyValueOfstringanyType></Parameters></Filter><Name>r</Name></RuleDescription>`)
}

// TestQuotesStandForThemselves shows a SQL rule as clients get it that do not know all references of XML.
func TestQuotesStandForThemselves(t *testing.T) {
	s := newSite(t)
	const expression = "a = 'x' AND \"b c\" = @p AND\n\td &lt; 5 AND e = '&amp;#39;'"
	s.do(t, http.MethodPut, "/t/Subscriptions/s/Rules/r", ruleOf(expression, `<Value>it's "so"</Value>`), http.StatusCreated)
	for _, path := range []string{"/t/Subscriptions/s/Rules/r", "/t/Subscriptions/s/Rules"} {
		got := s.do(t, http.MethodGet, path, "", http.StatusOK)
		for _, want := range []string{">" + expression + "<", `>it's "so"<`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s has no %q:\n%s", path, want, got)
			}
		}
	}
	got := s.do(t, http.MethodGet, "/no", "", http.StatusNotFound)
	if !strings.Contains(got, "entity 'no' could") {
		t.Error(got)
	}
}

// TestRuleValues shows which types a value may have, under whichever prefix, and how it comes back.
func TestRuleValues(t *testing.T) {
	const schema, serialization = schemaSpace, serializationSpace
	at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	guid := amqp.UUID{0xa8, 0x98, 0x2f, 0x53, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	for _, test := range []struct {
		space, kind, text string
		want              any
		written           string // text and type, if not as given
	}{
		{schema, "string", " it's ", " it's ", ""},
		{schema, "boolean", "true", true, ""},
		{schema, "boolean", "0", false, "false boolean"},
		{schema, "int", "-5", int32(-5), ""},
		{schema, "long", "5", int64(5), ""},
		{schema, "long", "9223372036854775807", int64(9223372036854775807), ""},
		{schema, "short", "-5", int16(-5), ""},
		{schema, "byte", "-5", int8(-5), ""},
		{schema, "unsignedByte", "255", uint8(255), ""},
		{schema, "unsignedShort", "65535", uint16(65535), ""},
		{schema, "unsignedInt", "4294967295", uint32(4294967295), ""},
		{schema, "unsignedLong", "18446744073709551615", uint64(18446744073709551615), ""},
		{schema, "integer", "7", int64(7), "7 long"},
		{schema, "double", "1.5", 1.5, ""},
		{schema, "double", "-INF", math.Inf(-1), ""},
		{schema, "float", "1.1", float32(1.1), ""},
		{schema, "decimal", "1.10", 1.1, "1.1 double"},
		{schema, "dateTime", "2020-01-02T03:04:05Z", at, ""},
		{schema, "dateTime", "2020-01-02T04:04:05.0000000+01:00", at, "2020-01-02T03:04:05Z dateTime"},
		{schema, "dateTime", "2020-01-02T03:04:05", at.In(filter.Unzoned), ""},
		{schema, "dateTime", "2020-01-02T03:04:05.25", at.Add(250 * time.Millisecond).In(filter.Unzoned), ""},
		{schema, "duration", "P1DT2H3M", filter.Span(26*time.Hour + 3*time.Minute), "P1DT2H3M serialization:duration"},
		{serialization, "duration", "P1DT2H3M", filter.Span(26*time.Hour + 3*time.Minute), "P1DT2H3M serialization:duration"},
		{serialization, "duration", "-PT0.5S", filter.Span(-500 * time.Millisecond), "-PT0.5S serialization:duration"},
		{serialization, "duration", "PT0S", filter.Span(0), "PT0S serialization:duration"},
		{serialization, "guid", "a8982f53-0102-0304-0506-0708090a0b0c", guid, "a8982f53-0102-0304-0506-0708090a0b0c serialization:guid"},
		{serialization, "char", "252", amqp.Char('ü'), "252 serialization:char"},
		{schema, "base64Binary", "AQL/", []byte{1, 2, 255}, ""},
		{schema, "anyURI", "https://host/?a=b", amqp.Described{Descriptor: filter.URI, Value: "https://host/?a=b"}, ""},
	} {
		for _, prefix := range []string{"d6p1", "l28", "q1"} {
			t.Run(prefix+" "+test.kind+" "+test.text, func(t *testing.T) {
				s := newSite(t)
				element := fmt.Sprintf(`<Value i:type="%[1]s:%[2]s" xmlns:%[1]s="%[3]s">%[4]s</Value>`, prefix, test.kind, test.space, test.text)
				answer := s.do(t, http.MethodPut, "/t/Subscriptions/s/Rules/r", ruleOf("a = @p", element), http.StatusCreated)
				rule := must.Get(s.broker.Rule("t", "s", "r"))(t)
				if got := rule.Filter.Parameters().Get("@p"); !reflect.DeepEqual(got, test.want) {
					t.Errorf("%#v, want %#v", got, test.want)
				}
				want := cmp.Or(test.written, test.text+" "+test.kind)
				if got := writtenValue(t, answer); got != want {
					t.Errorf("written as %q, want %q", got, want)
				}
			})
		}
	}
}

// writtenValue is the text of a value in an answer and its type, with the namespace if that is not of XML Schema.
func writtenValue(t *testing.T, answer string) string {
	t.Helper()
	_, element, _ := strings.Cut(answer, "<Key>@p</Key>")
	var value struct {
		Type   string `xml:"type,attr"`
		Schema string `xml:"d6p1,attr"`
		Text   string `xml:",chardata"`
	}
	if err := xml.Unmarshal([]byte(element), &value); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	kind, ok := strings.CutPrefix(value.Type, "d6p1:") // JavaScript's client counts on these five characters
	if !ok {
		t.Error(value.Type)
	}
	switch value.Schema {
	case schemaSpace:
	case serializationSpace:
		kind = "serialization:" + kind
	default:
		t.Errorf("namespace %q", value.Schema)
	}
	return value.Text + " " + kind
}

// TestValueByInheritedPrefix shows that it is the namespace that counts: one that an element above declares, and one without prefix.
func TestValueByInheritedPrefix(t *testing.T) {
	s := newSite(t)
	for _, test := range []struct{ body, prefix, declaration string }{
		{ruleOf("a = @p", `<Value i:type="x:int">5</Value>`), "<Filter ", `<Filter xmlns:x="` + schemaSpace + `" `},
		{ruleOf("a = @p", `<v:Value xmlns:v="`+busSpace+`" xmlns="`+schemaSpace+`" i:type="int">5</v:Value>`), "", ""},
		{ruleOf("a = @p", `<Value z:type="x:int" xmlns:z="`+instanceSpace+`" xmlns:x="`+schemaSpace+`">5</Value>`), "", ""},
	} {
		s.do(t, http.MethodPut, "/t/Subscriptions/s/Rules/r", strings.Replace(test.body, test.prefix, test.declaration, 1), http.StatusCreated)
		rule, err := s.broker.Rule("t", "s", "r")
		if err != nil || rule.Filter.Parameters().Get("@p") != int32(5) {
			t.Errorf("%v, %v", rule.Filter.Parameters(), err)
		}
		s.do(t, http.MethodDelete, "/t/Subscriptions/s/Rules/r", "", http.StatusOK)
	}
}

// TestOtherValues shows the types that are no plain text.
func TestOtherValues(t *testing.T) {
	s := newSite(t)
	for _, test := range []struct {
		element string
		want    any
		written string
	}{
		{`<Value i:nil="true"/>`, nil, `<Value i:nil="true"></Value>`},
		{
			`<Value i:type="o:DateTimeOffset" xmlns:o="` + systemSpace + `"><o:DateTime>2020-01-02T03:04:05Z</o:DateTime>` +
				`<o:OffsetMinutes>60</o:OffsetMinutes></Value>`,
			filter.Offset(time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)),
			`<DateTime>2020-01-02T03:04:05Z</DateTime><OffsetMinutes>0</OffsetMinutes></Value>`,
		},
	} {
		answer := s.do(t, http.MethodPut, "/t/Subscriptions/s/Rules/r", ruleOf("a = @p", test.element), http.StatusCreated)
		rule, err := s.broker.Rule("t", "s", "r")
		if err != nil || !reflect.DeepEqual(rule.Filter.Parameters().Get("@p"), test.want) || !strings.Contains(answer, test.written) {
			t.Errorf("%v, %v:\n%s", rule.Filter.Parameters(), err, answer)
		}
		s.do(t, http.MethodPut, "/t/Subscriptions/s/Rules/again", strings.Replace(answer, "<Name>r<", "<Name>again<", 1), http.StatusCreated)
		again, err := s.broker.Rule("t", "s", "again")
		if err != nil || !reflect.DeepEqual(again.Filter.Parameters(), rule.Filter.Parameters()) {
			t.Errorf("%v, %v, as it was written", again.Filter.Parameters(), err)
		}
		s.do(t, http.MethodDelete, "/t/Subscriptions/s/Rules/again", "", http.StatusOK)
		s.do(t, http.MethodDelete, "/t/Subscriptions/s/Rules/r", "", http.StatusOK)
	}
}

// TestBadValues shows values that are refused, each with what is wrong.
func TestBadValues(t *testing.T) {
	s := newSite(t)
	for _, test := range []struct{ space, kind, text, want string }{
		{schemaSpace, "int", "2147483648", `"@p": "2147483648" is no value of type int`},
		{schemaSpace, "int", "", `"" is no value of type int`},
		{schemaSpace, "unsignedInt", "-1", `"-1" is no value of type unsignedInt`},
		{schemaSpace, "boolean", "yes", `"yes" is no value of type boolean`},
		{schemaSpace, "decimal", "1e5", `"1e5" is no value of type decimal`},
		{schemaSpace, "dateTime", "yesterday", `"yesterday" is no value of type dateTime`},
		{schemaSpace, "base64Binary", "%", `"%" is no value of type base64Binary`},
		{serializationSpace, "guid", "1-2", `"1-2" is no value of type guid`},
		{serializationSpace, "char", "a", `"a" is no value of type char`},
		{serializationSpace, "duration", "an hour", `"an hour" is no value of type duration`},
		{serializationSpace, "duration", "P10675199DT2H48M5.4775807S", "is no value of type duration"},
		{schemaSpace, "anyType", "x", `"anyType" is no type of a value`},
		{"urn:other", "int", "5", `"int" is no type of a value`},
	} {
		element := `<Value i:type="p:` + test.kind + `" xmlns:p="` + test.space + `">` + test.text + "</Value>"
		got := s.do(t, http.MethodPut, "/t/Subscriptions/s/Rules/r", ruleOf("a = @p", element), http.StatusBadRequest)
		if !strings.Contains(got, test.want) {
			t.Errorf("%s %q: %s", test.kind, test.text, got)
		}
	}
	s.do(t, http.MethodPut, "/t/Subscriptions/s/Rules/r", ruleOf("a = @p", `<Value i:type="undeclared:int">5</Value>`), http.StatusBadRequest)
}

// TestFeed shows what older clients look for in a list: when it was made, and their path in its id.
func TestFeed(t *testing.T) {
	s := newSite(t)
	for path, want := range map[string]string{
		"/$Resources/Topics":                      "/$Resources/Topics?api-version=2021-05",
		"/t/Subscriptions/":                       "/t/Subscriptions/?api-version=2021-05",
		"/t/Subscriptions/s/Rules/":               "/t/Subscriptions/s/Rules/?api-version=2021-05",
		"/t/subscriptions/s/rules?$skip=0&$top=5": "/t/subscriptions/s/rules?$skip=0&$top=5&api-version=2021-05",
		"/": "/?api-version=2021-05",
	} {
		var got feed
		must.Do(t, xml.Unmarshal([]byte(s.do(t, http.MethodGet, path, "", http.StatusOK)), &got))
		if got.ID != "https://example.com"+want || got.Links[0].Href != got.ID {
			t.Errorf("%s: id %s", path, got.ID)
		}
		if _, err := time.Parse(time.RFC3339Nano, got.Updated); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
