package jobform_test

import (
	"math"
	"strconv"

	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

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
