package jobform_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
)

const bus = `{"action": {"type": "ServiceBusQueue", "serviceBusQueueMessage": {"namespace": "a", "queueName": "b", "message": "c",
	"customMessageProperties": {"n": 1, "t": "x", "b": true}}}}`

// TestTyped types into a form, and looks at the document.
func TestTyped(t *testing.T) {
	const properties, message = "action.serviceBusQueueMessage.customMessageProperties", "action.serviceBusQueueMessage"
	for name, test := range map[string]struct {
		from  string
		typed []string
		want  string // at a path
	}{
		"a number":            {`{}`, []string{"action.retryPolicy.retryCount", "7"}, `action.retryPolicy={"retryCount":7}`},
		"no number":           {`{}`, []string{"action.retryPolicy.retryCount", "7x"}, `action.retryPolicy={"retryCount":"7x"}`},
		"a list":              {`{}`, []string{"action.retryPolicy.finalOn", "4xx, 501 "}, `action.retryPolicy={"finalOn":["4xx","501"]}`},
		"a list in JSON":      {`{}`, []string{"action.retryPolicy.finalOn", `["a,b"]`}, `action.retryPolicy={"finalOn":["a,b"]}`},
		"a box":               {bus, []string{message + ".template", "true"}, message + `.template=true`},
		"an object that goes": {`{"catchUp": {"policy": "all"}}`, []string{"catchUp.policy", ""}, `catchUp=null`},
		"an object that is":   {`{"catchUp": {}}`, nil, `catchUp={}`},
		"line ends":           {`{"description": "a\r\nb"}`, []string{"description", "a\nc"}, `description="a\r\nc"`},
		"data":                {`{}`, []string{"data", "region: eu\nn: [1]"}, `data={"region":"eu","n":[1]}`},
		"a row":               {bus, []string{properties + "#0~value", "2"}, properties + `={"n":2,"t":"x","b":true}`},
		"a row renamed":       {bus, []string{properties + "#1~name", "u"}, properties + `={"n":1,"u":"x","b":true}`},
		"a row of a kind":     {bus, []string{properties + "#1~how", "number", properties + "#1~value", "5"}, properties + `={"n":1,"t":5,"b":true}`},
		"a row that is named": {bus, []string{properties + "#1~how", "ref", properties + "#1~ref", "s"}, properties + `={"n":1,"t":{"secretRef":"s"},"b":true}`},
		"another type":        {bus, []string{"action.type", "Http"}, `action={"type":"Http"}`},
		"no type":             {bus, []string{"action.type", "Htp"}, `action={"type":"Htp"}`},
	} {
		t.Run(name, func(t *testing.T) {
			in := jobform.Input{Document: parse(t, test.from)}
			if strings.HasPrefix(test.from, "{}") {
				in.Document = parse(t, `{"action": {"type": "Http"}}`)
			}
			in.Values = sent(t, form.Read(in))
			for i := 0; i < len(test.typed); i += 2 {
				in.Values.Set(test.typed[i], test.typed[i+1])
			}
			got := form.Read(in)
			path, want, _ := strings.Cut(test.want, "=")
			if at := jobform.At(got.Document, path); at.String() != want || len(got.Problems) > 0 {
				t.Errorf("got %s, want %s (%v)", at, want, got.Problems)
			}
		})
	}
}

// TestWrongFields shows what no document can have beside its field, as it was typed.
func TestWrongFields(t *testing.T) {
	in := jobform.Input{Document: parse(t, `{"action": {"type": "Http"}, "labels": {"a": "1"}}`), New: true}
	in.Values = sent(t, form.Read(in))
	for name, text := range map[string]string{
		"data": "a: [", "action.retryPolicy.finalOn": "[4xx", "labels#1~name": "a", "labels#1~value": "2", "labels#2~name": "", "labels#2~value": "3",
		"action.request.headers#0~name": "Authorization", "action.request.headers#0~how": "text", "action.request.headers#0~value": "typed-secret",
	} {
		in.Values.Set(name, text)
	}
	got := form.Read(in)
	var fields []string
	for _, p := range got.Problems {
		fields = append(fields, p.Field)
	}
	slices.Sort(fields)
	if want := "f-action.retryPolicy.finalOn f-data f-labels#1 f-labels#2"; strings.Join(fields, " ") != want {
		t.Errorf("problems of %v, want %s", fields, want)
	}
	page := written(t, got)
	for _, text := range []string{"a: [", "[4xx", `value="3"`} {
		if !strings.Contains(page, text) {
			t.Errorf("%s is lost", text)
		}
	}
	if strings.Contains(page, "typed-secret") || !slices.Equal(got.Typed, []string{"action.request.headers.Authorization"}) {
		t.Errorf("a secret is shown, or not known: %v", got.Typed)
	}
	got.Place(document.Problems{
		{Path: "properties.action.request.headers.Authorization", Message: "one"},
		{Path: "labels.a", Message: "two"},
		{Path: "action.errorAction[3].request.uri", Message: "three"},
		{Path: "nowhere", Message: "four"},
	})
	places := map[string]string{}
	for _, p := range got.Problems {
		places[p.Message] = p.Field
	}
	for message, want := range map[string]string{
		"one": "f-action.request.headers#0", "two": "f-labels#0", "three": "f-action.errorAction", "four": "",
	} {
		if places[message] != want {
			t.Errorf("%s is at %q, want %q", message, places[message], want)
		}
	}
}

// TestForged reads values that no form sends.
func TestForged(t *testing.T) {
	v := parse(t, bus)
	values := url.Values{
		"do": {"add:labels"}, "labels#999999999999999999999~name": {"x"}, "labels#-1~name": {"x"}, "labels#5000~name": {"x"},
		"action.errorAction[7].type": {"Http"}, "action.errorAction[7].request.uri": {"u"}, "action.errorAction": {"x"}, "nothing": {"x"}, "": {"x"},
	}
	got := form.Read(jobform.Input{Document: v, Values: values})
	if at := jobform.At(got.Document, "action.errorAction"); at.String() != `{"type":"Http","request":{"uri":"u"}}` {
		t.Error(at)
	}
	if at := jobform.At(got.Document, "labels"); at.Kind() != document.KindNull {
		t.Error(at)
	}
}
