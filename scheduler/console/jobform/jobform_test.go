package jobform_test

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/builder"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// written writes a form alone.
var written = template()

func template() func(tb testing.TB, r *jobform.Reading) string {
	files := fstest.MapFS{"page.html": {Data: []byte(`{{define "page"}}<form>{{range .Sections}}{{template "jobform-section" .}}{{end}}</form>{{end}}`)}}
	all := frame.Templates(files, "page.html").With(jobform.Files, "*.html")
	return func(tb testing.TB, r *jobform.Reading) string {
		tb.Helper()
		var b strings.Builder
		must.Do(tb, all().ExecuteTemplate(&b, "page", r))
		return b.String()
	}
}

var form = func() *jobform.Form {
	all := builtin.New(builtin.Config{})
	defer all.Close()
	return jobform.New(scheduler.JobShape(all).Flat("properties"))
}()

// sent is a form as a browser sends it that nobody has touched.
func sent(tb testing.TB, r *jobform.Reading) url.Values {
	tb.Helper()
	return consoletest.Forms(tb, written(tb, r))[0].Values
}

func parse(t *testing.T, text string) document.Value {
	t.Helper()
	v, err := document.Parse([]byte(text))
	if err != nil {
		t.Fatal(err, text)
	}
	return v
}

// unchanged sends a form that nobody has touched, and compares the document with the one before.
func unchanged(tb testing.TB, fail func(format string, args ...any), v document.Value, stored []string) {
	tb.Helper()
	in := jobform.Input{Document: v, Stored: stored}
	opened := form.Read(in)
	if !opened.Document.Equal(v) {
		fail("opened: %sof %s", differ(v, opened.Document), v)
	}
	in.Values = sent(tb, opened)
	read := form.Read(in)
	if !read.Document.Equal(v) || len(read.Problems) > 0 {
		fail("sent: %s%v\nof %s", differ(v, read.Document), read.Problems, v)
	}
}

// differ tells where two documents differ.
func differ(v, w document.Value) string {
	var b strings.Builder
	for _, c := range document.Difference("", v, w) {
		fmt.Fprintf(&b, "%s: %q, want %q\n", c.Path, c.After, c.Before)
	}
	return b.String()
}

// TestLabels finds fields without a label in the catalogue, which other languages cannot derive from the name.
func TestLabels(t *testing.T) {
	var check func(m *document.Members, but []string)
	check = func(m *document.Members, but []string) {
		if m == nil {
			return
		}
		for _, kind := range m.Kinds {
			check(kind.Members, nil)
		}
		for _, s := range m.Known {
			if _, anything := s.Form(document.FormAny); anything || slices.Contains(but, s.Name) {
				continue
			}
			if !words.Has("jobform.label." + s.Name) {
				t.Errorf("no label of %s", s.Name)
			}
			if _, secret := s.Form(document.FormSecret); !secret {
				check(s.Members, nil)
			}
		}
	}
	all := builtin.New(builtin.Config{})
	defer all.Close()
	check(scheduler.JobShape(all).Flat("properties").Members, builder.Members())
}

// TestExamplesStay opens each example and sends it without a change.
func TestExamplesStay(t *testing.T) {
	found := 0
	for _, folder := range []string{"jobs", "actions", "authentication", "schedules"} {
		files := must.Get(filepath.Glob("../../../examples/" + folder + "/*"))(t)
		for _, file := range files {
			data := must.Get(os.ReadFile(file))(t)
			for _, v := range documents(t, data) {
				found++
				t.Run(filepath.Base(file), func(t *testing.T) {
					shown, stored := stored(t, v)
					unchanged(t, t.Fatalf, shown, stored)
				})
			}
		}
	}
	if found < 20 {
		t.Errorf("there were %d examples", found)
	}
}

// stored returns a job as it is shown once it is stored, and where its secrets are.
func stored(t *testing.T, v document.Value) (shown document.Value, paths []string) {
	t.Helper()
	all := builtin.New(builtin.Config{})
	defer all.Close()
	if inner, ok := v.Member("properties"); ok {
		v = inner
	}
	read := v.Except("name", "collection").Clone()
	r := scheduler.DefinitionDecoder{Limits: scheduler.Limits{MinRetryInterval: time.Second}, Actions: all, Key: scheduler.Key{Collection: "default", Job: "job"}}
	def := must.Get(r.Definition(read))(t)
	paths, _ = def.Document().SecretPaths()
	return parse(t, def.Document().String()), paths
}

func documents(t *testing.T, data []byte) []document.Value {
	t.Helper()
	text := strings.ReplaceAll(string(data), "${CARILLON_ECHO}", "http://echo.example")
	return must.Get(document.ParseAll([]byte(text)))(t)
}

// TestDocumentsStay opens documents of any kind, right and wrong ones, and sends them without a change.
func TestDocumentsStay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := drawJob(rt)
		unchanged(t, rt.Fatalf, v, nil)
	})
}

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

var shape = func() *document.Shape {
	all := builtin.New(builtin.Config{})
	defer all.Close()
	return scheduler.JobShape(all).Flat("properties")
}()

// texts are what texts may be.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", " ", "x", "a, b", "\n", "\nfirst line empty", "two\nlines", "two\r\nlines\r\n", "\r", " space around ", "true", "1", "null",
			"</textarea><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "{{.Data.x}}", "\u202Eright to left", "[1]", "{}", "a\x00b",
		}),
		rapid.String(),
	)
}

func textValue(t *rapid.T) document.Value { return document.StringValue(texts().Draw(t, "text")) }

// drawJob makes a job of all members that one may have, in forms that it may have and in some that it may not.
func drawJob(t *rapid.T) document.Value {
	v := drawObject(t, shape.Members, shape.Members, 0)
	return v.Except("name", "collection")
}

// drawObject makes an object of some members.
func drawObject(t *rapid.T, m, around *document.Members, depth int) document.Value {
	known := m.Known
	if len(m.Kinds) > 0 {
		known = rapid.SampledFrom(m.Kinds).Draw(t, "kind").Members.Known
	}
	var members []document.Member
	for _, s := range known {
		if !s.Required && rapid.IntRange(0, 2).Draw(t, s.Name) == 0 {
			continue
		}
		v := drawValue(t, s, m, depth)
		if len(m.Kinds) > 0 && s.Name == "type" {
			for _, k := range m.Kinds {
				if len(k.Members.Known) == len(known) && k.Members.Known[1].Name == known[1].Name && &k.Members.Known[0] == &known[0] {
					v = document.StringValue(rapid.SampledFrom(k.Words).Draw(t, "type"))
				}
			}
		}
		members = append(members, document.Member{Name: s.Name, Value: v})
	}
	if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
		members = append(members, document.Member{Name: "x-unknown", Value: textValue(t)})
	}
	_ = around
	return document.ObjectValue(members...)
}

// drawValue makes a value of a member.
func drawValue(t *rapid.T, s *document.Shape, around *document.Members, depth int) document.Value {
	_, secret := s.Form(document.FormSecret)
	oddity := rapid.IntRange(0, 29).Draw(t, "oddity")
	if free := s.Name == "*"; secret && !free && oddity == 1 {
		oddity = 2 // a document that is shown has no secret
	}
	switch oddity {
	case 0:
		return document.Value{}
	case 1:
		return rapid.SampledFrom([]document.Value{
			document.NumberValue("7"), document.BoolValue(true), document.ArrayValue(), document.ObjectValue(), document.StringValue("odd"),
			document.ArrayValue(document.ObjectValue(), document.Value{}, document.StringValue("")), document.ArrayValue(document.NumberValue("1.0")),
		}).Draw(t, "odd")
	}
	if secret {
		return document.ObjectValue(document.Member{Name: "secretRef", Value: textValue(t)})
	}
	f := rapid.SampledFrom(s.Forms).Draw(t, "form")
	switch f.Kind { //nolint:exhaustive // others are texts
	case document.FormWord:
		return document.StringValue(rapid.SampledFrom(f.Words).Draw(t, "word"))
	case document.FormBoolean:
		return document.BoolValue(rapid.Bool().Draw(t, "boolean"))
	case document.FormInteger, document.FormNumber:
		return document.NumberValue(strconv.Itoa(rapid.IntRange(math.MinInt32, math.MaxInt32).Draw(t, "number")))
	case document.FormList:
		return drawList(t, s, f, around, depth)
	case document.FormObject:
		return drawMembers(t, s, around, depth)
	case document.FormAny:
		return textValue(t)
	}
	return textValue(t)
}

func drawList(t *rapid.T, s *document.Shape, f document.Form, around *document.Members, depth int) document.Value {
	var items []document.Value
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		switch f.Of {
		case document.FormInteger:
			items = append(items, document.NumberValue(strconv.Itoa(rapid.Int().Draw(t, "item"))))
		case document.FormObject:
			items = append(items, drawMembers(t, s, around, depth))
		default:
			items = append(items, textValue(t))
		}
	}
	return document.ArrayValue(items...)
}

// drawMembers makes the object that a shape is, or that its elements are.
func drawMembers(t *rapid.T, s *document.Shape, around *document.Members, depth int) document.Value {
	m := s.Members
	switch {
	case m != nil && m.Recurs && depth > 1:
		return document.ObjectValue()
	case m != nil && m.Recurs:
		return drawObject(t, around, around, depth+1)
	case m != nil && !m.Open && m.Free == nil:
		return drawObject(t, m, around, depth)
	}
	var members []document.Member
	names := map[string]bool{}
	for range rapid.IntRange(0, 3).Draw(t, "names") {
		name := texts().Draw(t, "name")
		if m != nil && m.Free != nil && document.IsCredential(name) || names[name] {
			continue
		}
		names[name] = true
		v := textValue(t)
		if m != nil && m.Free != nil {
			v = drawValue(t, m.Free, around, depth)
		}
		members = append(members, document.Member{Name: name, Value: v})
	}
	return document.ObjectValue(members...)
}
