package filter_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/filter"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// sample is a message with a property of each kind.
func sample(tb testing.TB) amqp.Message {
	tb.Helper()
	raw := amqp.AppendHeader(nil, amqp.Header{Durable: true, TTL: time.Minute})
	raw = amqp.AppendMessageAnnotations(raw, amqp.Map{{Key: amqp.Symbol("x-opt-partition-key"), Value: "p"}})
	raw = amqp.AppendProperties(raw, amqp.Properties{
		MessageID: "m1", CorrelationID: "c1", To: "to", ReplyTo: "reply", Subject: "red", ContentType: "text/plain",
		GroupID: "s1", HasGroupID: true, ReplyToGroupID: "rs",
	})
	raw = amqp.AppendApplicationProperties(raw, amqp.Map{
		{Key: "color", Value: "blue"},
		{Key: "quantity", Value: int32(5)},
		{Key: "price", Value: 2.5},
		{Key: "big", Value: int64(9007199254740993)},
		{Key: "rush", Value: true},
		{Key: "empty", Value: ""},
		{Key: "null", Value: nil},
		{Key: "when", Value: now},
		{Key: "id", Value: amqp.UUID{0x12, 0x34}},
		{Key: "with space", Value: "x"},
		{Key: "percent", Value: "100%"},
		{Key: "sys", Value: "not system"},
		{Key: "Łódź", Value: "city"},
	})
	raw = amqp.AppendData(raw, []byte("body"))
	return must.Get(amqp.ParseMessage(raw))(tb)
}

func TestSQL(t *testing.T) {
	parameters := amqp.Map{
		{Key: "@five", Value: int32(5)},
		{Key: "@day", Value: now.Add(-time.Hour)},
		{Key: "@id", Value: amqp.UUID{0x12, 0x34}},
		{Key: "@null", Value: nil},
	}
	matching := []string{
		"1=1", "quantity = 5", "quantity = 5.0", "QUANTITY = 5", "user.quantity = 5", "quantity <> 6", "quantity != 6",
		"quantity > 4 AND quantity < 6", "quantity >= 5 and quantity <= 5", "price > 2", "price = 2.5", "price < 1e1", "0x10 = 16",
		"big = 9007199254740993", "big <> 9007199254740992",
		"color = 'blue'", "color <> 'Blue'", "color < 'c'", "'it''s' = 'it''s'", "[with space] = 'x'", `"with space" = 'x'`, "Łódź = 'city'",
		"sys.label = 'red'", "SYS.Label = 'red'", "sys.Subject = 'red'", "sys.MessageId = 'm1'", "sys.CorrelationId = 'c1'",
		"sys.To = 'to'", "sys.ReplyTo = 'reply'", "sys.SessionId = 's1'", "sys.ReplyToSessionId = 'rs'", "sys.ContentType LIKE 'text/%'",
		"sys.EnqueuedTimeUtc = '2026-05-01T12:00:00Z'", "sys.ExpiresAtUtc > sys.EnqueuedTimeUtc", "sys.SequenceNumber = 7",
		"sys.PartitionKey = 'p'", "sys.ForcePersistence", "sys.DeliveryCount = 0", "sys.TimeToLive = 60000", "sys = 'not system'",
		"rush", "rush = TRUE", "NOT rush = false", "rush = (TRUE)", "TRUE", "NOT FALSE", "NOT (FALSE)",
		"color IN ('red', 'blue')", "color NOT IN ('red', 'green')", "quantity IN (1, 2+3)", "price IN (2.5)",
		"missing IS NULL", "[null] IS NULL", "color IS NOT NULL", "empty IS NOT NULL", "EXISTS(color)", "NOT EXISTS(missing)",
		"EXISTS(sys.label)", "EXISTS ( user.color )", "sys.DeadLetterSource IS NULL",
		"color LIKE 'b%'", "color LIKE '%ue'", "color LIKE 'b__e'", "color LIKE '%l%'", "color NOT LIKE 'r%'", "color LIKE 'blue'",
		`percent LIKE '100\%' ESCAPE '\'`, `percent LIKE '%!%' ESCAPE '!'`, "color LIKE '%%%'", "empty LIKE '%'", "empty LIKE ''",
		"Łódź LIKE 'c__y'", "'żółw' LIKE '_ó_w'",
		"quantity + 1 = 6", "quantity - 1 = 4", "quantity * 2 = 10", "quantity / 2 = 2", "quantity % 3 = 2", "quantity / 2.0 = 2.5",
		"-quantity = -5", "- - quantity = 5", "+quantity = 5", "1 + 2 * 3 = 7", "(1 + 2) * 3 = 9", "10 - 4 - 3 = 3", "5.5 % 2 = 1.5", "-1 - -2 = 1",
		"color + '!' = 'blue!'", "quantity = @five", "when > @day", "id = @id", "id = '12340000-0000-0000-0000-000000000000'",
		"when = '2026-05-01T12:00:00Z'", "when > '2026-04-30'", "@null IS NULL", "newid() <> newid()", "property('color') = 'blue'",
		"p(color) = 'blue'", "1=1 OR missing = 1", "missing = 1 OR 1=1", "NOT (1=0 AND missing=1)", "NOT (missing=1 AND 1=0)",
		"1=1 OR 1=0 AND 1=0", "NOT 1=0 AND 1=1",
	}
	unmatching := []string{
		"1=0", "quantity = 6", "quantity = '5'", "quantity <> '5'", "color = 5", "color = Blue", "missing = 1", "missing <> 1", "NOT missing = 1",
		"NULL = NULL", "missing = missing", "missing IN (1, 2)", "missing NOT IN (1, 2)", "color NOT IN ('red', missing)", "color IN ('red', NULL)",
		"missing LIKE '%'", "NOT missing LIKE '%'", "quantity LIKE '5'", "missing + 1 = 1", "-missing = 1", "1=0 OR missing=1", "missing=1 AND 1=1",
		"1=1 AND missing=1", "NOT (1=1 AND missing=1)", "NOT (1=0 OR missing=1)", "rush = 'true'", "color", "quantity", "missing", "NOT missing", "NULL",
		"EXISTS(missing)", "color IS NULL", "color LIKE 'B%'", "color LIKE 'b_e'", "color LIKE ''", "when = 'yesterday'", "id = 'x'",
		"color LIKE 'b%' ESCAPE missing", "sys.LockToken = 'x'", "(1=1 OR 1=0) AND 1=0", "NOT 1=1 OR 1=0", "0.0/0.0 = 0.0/0.0",
	}
	for _, expression := range matching {
		check(t, expression, parameters, true)
	}
	for _, expression := range unmatching {
		check(t, expression, parameters, false)
	}
}

func check(t *testing.T, expression string, parameters amqp.Map, want bool) {
	t.Helper()
	f, err := filter.ParseSQL(expression, parameters)
	if err != nil {
		t.Errorf("%s: %v", expression, err)
		return
	}
	got, err := f.Match(filter.NewMessage(sample(t), now, 7))
	if err != nil || got != want {
		t.Errorf("%s: got %v, %v", expression, got, err)
	}
}

// TestThreeValues is the table of true, false and unknown.
func TestThreeValues(t *testing.T) {
	operands := map[string]string{"T": "1=1", "F": "1=0", "U": "missing=1"}
	and := map[string]string{"TT": "T", "TF": "F", "TU": "U", "FT": "F", "FF": "F", "FU": "F", "UT": "U", "UF": "F", "UU": "U"}
	or := map[string]string{"TT": "T", "TF": "T", "TU": "T", "FT": "T", "FF": "F", "FU": "U", "UT": "T", "UF": "U", "UU": "U"}
	try := func(expression, want string) {
		t.Helper()
		check(t, expression, nil, want == "T")
		check(t, "NOT ("+expression+")", nil, want == "F") // unknown is neither
	}
	for pair, want := range and {
		try(operands[pair[:1]]+" AND "+operands[pair[1:]], want)
	}
	for pair, want := range or {
		try(operands[pair[:1]]+" OR "+operands[pair[1:]], want)
	}
}

func TestEvaluationErrors(t *testing.T) {
	for expression, want := range map[string]string{
		"sys.Nothing = 1":                "there is no system property Nothing",
		"EXISTS(sys.Nothing)":            "there is no system property Nothing",
		"quantity / 0 = 1":               "division by zero",
		"quantity % 0 = 1":               "division by zero",
		"color * 2 = 1":                  `"*" with what is not a number`,
		"-color = 1":                     "a sign before what is not a number",
		"1=1 AND quantity/0 = 1":         "division by zero",
		"1=0 OR quantity/0 = 1":          "division by zero",
		"1 IN (2, quantity/0)":           "division by zero",
		"NOT quantity/0 = 1":             "division by zero",
		"color LIKE color ESCAPE -color": "a sign before what is not a number",
	} {
		f, err := filter.ParseSQL(expression, nil)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if ok, err := f.Match(filter.NewMessage(sample(t), now, 7)); ok || err == nil || err.Error() != want {
			t.Errorf("%s: got %v, %v", expression, ok, err)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for expression, want := range map[string]string{
		"":                                  "at 1: an expression is due, not the end",
		"color =":                           "at 8: an expression is due, not the end",
		"color = 'blue":                     "at 9: the text does not end: '\\'' is missing",
		"[color = 1":                        "at 1: the name does not end: ']' is missing",
		"color = 1 1":                       `at 11: an operator or the end is due, not "1"`,
		"a = 1 ; b":                         `at 7: an operator or the end is due, not ";"`,
		"a ? 1":                             "at 3: '?' is not part of any expression",
		"(a = 1":                            `at 7: ")" is due, not the end`,
		"a = 1 AND":                         "at 10: an expression is due, not the end",
		"a IN 1":                            `at 6: "(" is due, not "1"`,
		"a IN ()":                           `at 7: an expression is due, not ")"`,
		"a IS 1":                            `at 6: "NULL" is due, not "1"`,
		"a NOT 1":                           `at 7: IN or LIKE is due, not "1"`,
		"a LIKE 'x' ESCAPE ''":              "at 12: ESCAPE wants one character",
		"1 + 2":                             "at 1: a predicate is due, such as a comparison",
		"'text'":                            "at 1: a predicate is due, such as a comparison",
		"a = 1 = 2":                         `at 7: an operator or the end is due, not "="`,
		"(a = 1) = 2":                       "at 1: an expression is due, not a predicate",
		"(a = 1) IS NULL":                   "at 1: an expression is due, not a predicate",
		"1 + (a = 1) = 2":                   "at 5: an expression is due, not a predicate",
		"a = 1 AND 2":                       "at 11: a predicate is due, such as a comparison",
		"other.a = 1":                       `at 1: scope "other" is neither sys nor user`,
		"a = @missing":                      "at 5: parameter @missing has no value",
		"a = @":                             "at 5: a parameter without a name",
		"a = now()":                         `at 5: there is no function "now"`,
		"sys.label('x') = 1":                "at 10: a system property is not a function",
		"EXISTS 1":                          `at 8: "(" is due, not "1"`,
		"EXISTS(1)":                         `at 8: the name of a property is due, not "1"`,
		"p(1) = 1":                          `at 3: the name of a property is due, not "1"`,
		"a = 1.2.3":                         `at 5: "1.2.3" is not a number`,
		"a = 12abc":                         `at 5: "12abc" is not a number`,
		"a = 0xZ":                           `at 5: "0xZ" is not a number`,
		"a = 1e999":                         `at 5: "1e999" is not a number`,
		"SET a = 1":                         `at 1: an expression is due, not "SET"`,
		strings.Repeat("(", 100) + "1=1":    "at 65: nested deeper than 64",
		strings.Repeat("NOT ", 100) + "1=1": "at 261: nested deeper than 64",
		"1=1" + strings.Repeat(" ", filter.MaxLength): "at 1025: longer than 1024 bytes",
		"\xff = 1": "at 1: '�' is not part of any expression",
	} {
		_, err := filter.ParseSQL(expression, nil)
		syntax, ok := errors.AsType[*filter.SyntaxError](err)
		if !ok || syntax.Error() != want {
			t.Errorf("%.40s: got %v", expression, err)
		}
	}
}

// TestTypes has a property of each AMQP type compared with what it is.
func TestTypes(t *testing.T) {
	for name, test := range map[string]struct {
		value      any
		expression string
	}{
		"byte": {int8(-5), "p = -5"}, "short": {int16(-5), "p < 0"}, "int": {int32(-5), "p = -5.0"}, "long": {int64(-5), "-p = 5"},
		"ubyte": {uint8(5), "p = 5"}, "ushort": {uint16(5), "p = 5"}, "uint": {uint32(5), "p = 5"}, "ulong": {uint64(5), "p = 5"},
		"large ulong": {uint64(1 << 63), "p > 9e18"}, "float": {float32(0.5), "p = 0.5"}, "double": {0.5, "-p = -0.5"},
		"symbol": {amqp.Symbol("x"), "p = 'x'"}, "char": {amqp.Char('x'), "p = 'x'"}, "boolean": {false, "NOT p"},
		"binary": {[]byte("x"), "p = @p"}, "timestamp": {now, "p = @p"}, "uuid": {amqp.UUID{9}, "p = @p"}, "list": {amqp.List{}, "p IS NULL"},
		"time span": {filter.Span(time.Hour), "p = @p"}, "time with an offset": {filter.Offset(now), "p = @p AND p >= '2026-05-01'"},
		"URI": {amqp.Described{Descriptor: filter.URI, Value: "urn:x"}, "p = 'urn:x'"}, "unknown": {amqp.Described{Descriptor: amqp.Symbol("x"), Value: int32(1)}, "p IS NULL"},
	} {
		raw := amqp.AppendApplicationProperties(nil, amqp.Map{{Key: "p", Value: test.value}})
		m := must.Get(amqp.ParseMessage(raw))(t)
		f, err := filter.ParseSQL(test.expression, amqp.Map{{Key: "@p", Value: test.value}})
		if err != nil {
			t.Fatal(name, err)
		}
		if ok, err := f.Match(filter.NewMessage(m, now, 1)); !ok || err != nil {
			t.Errorf("%s: got %v, %v", name, ok, err)
		}
	}
}

// TestSpans shows that durations have an order, and that the largest that .NET has does not become another in Go.
func TestSpans(t *testing.T) {
	m := amqp.AppendApplicationProperties(nil, amqp.Map{{Key: "p", Value: filter.Span(time.Minute)}})
	parsed := must.Get(amqp.ParseMessage(m))(t)
	f := must.Get(filter.ParseSQL("p > @less AND p < @more AND p < 600000001", amqp.Map{
		{Key: "@less", Value: filter.Span(-time.Hour)}, {Key: "@more", Value: filter.Span(time.Hour)},
	}))(t)
	if ok, err := f.Match(filter.NewMessage(parsed, now, 1)); ok || err != nil {
		t.Errorf("got %v, %v: a duration and a number have no order", ok, err)
	}
	longest := filter.Span(0)
	longest.Value = int64(math.MaxInt64)
	if d, ok := filter.SpanLength(longest); ok {
		t.Error(d)
	}
	if at, ok := filter.OffsetTime(filter.Offset(now.Add(1500 * time.Nanosecond))); !ok || !at.Equal(now.Add(1500*time.Nanosecond)) {
		t.Error(at, ok)
	}
}

func TestCorrelation(t *testing.T) {
	all := filter.CorrelationFilter{
		CorrelationID: "c1", MessageID: "m1", To: "to", ReplyTo: "reply", Label: "red", SessionID: "s1", ReplyToSessionID: "rs",
		ContentType: "text/plain", Properties: amqp.Map{{Key: "color", Value: "blue"}, {Key: "quantity", Value: int64(5)}, {Key: "rush", Value: true}},
	}
	tests := map[string]struct {
		fields filter.CorrelationFilter
		want   bool
	}{
		"all":            {all, true},
		"none":           {filter.CorrelationFilter{}, true},
		"label":          {filter.CorrelationFilter{Label: "red"}, true},
		"other label":    {filter.CorrelationFilter{Label: "Red"}, false},
		"other session":  {filter.CorrelationFilter{SessionID: "s2"}, false},
		"property":       {filter.CorrelationFilter{Properties: amqp.Map{{Key: "price", Value: 2.5}}}, true},
		"other property": {filter.CorrelationFilter{Label: "red", Properties: amqp.Map{{Key: "color", Value: "red"}}}, false},
		"no property":    {filter.CorrelationFilter{Properties: amqp.Map{{Key: "missing", Value: "x"}}}, false},
		"another type":   {filter.CorrelationFilter{Properties: amqp.Map{{Key: "quantity", Value: "5"}}}, false},
	}
	for name, test := range tests {
		f, err := filter.NewCorrelation(test.fields)
		if err != nil {
			t.Fatal(name, err)
		}
		if got, err := f.Match(filter.NewMessage(sample(t), now, 7)); got != test.want || err != nil {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	f := must.Get(filter.NewCorrelation(all))(t)
	if diff := cmp.Diff(all, f.Correlation()); diff != "" || f.Kind() != filter.Correlation {
		t.Error(diff)
	}
	for _, bad := range []amqp.Map{{{Key: int32(1), Value: "x"}}, {{Key: "list", Value: amqp.List{}}}, {{Key: "", Value: "x"}}} {
		if _, err := filter.NewCorrelation(filter.CorrelationFilter{Properties: bad}); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestConstantFilters(t *testing.T) {
	m := filter.NewMessage(sample(t), now, 7)
	if ok, err := filter.TrueFilter().Match(m); !ok || err != nil {
		t.Error(ok, err)
	}
	if ok, err := filter.FalseFilter().Match(m); ok || err != nil {
		t.Error(ok, err)
	}
	if filter.TrueFilter().Expression() != "1=1" || filter.FalseFilter().Expression() != "1=0" {
		t.Error("wrong expressions")
	}
}

func TestAction(t *testing.T) {
	tests := map[string]struct {
		color, quantity any
		label, session  string
	}{
		"SET color = 'red'": {"red", int32(5), "red", "s1"},
		"SET color = color + '!' ; SET quantity = quantity * 2;": {"blue!", int64(10), "red", "s1"},
		"REMOVE color; SET sys.label = 'new'":                    {nil, int32(5), "new", "s1"},
		"SET sys.SessionId = quantity; REMOVE user.quantity":     {"blue", nil, "red", "5"},
		"REMOVE sys.label; SET quantity = NULL":                  {"blue", nil, "", "s1"},
		"SET quantity = 1; SET color = quantity + 0.5":           {1.5, int64(1), "red", "s1"},
		"SET color = 'a' SET quantity = 7 REMOVE sys.label":      {"a", int64(7), "", "s1"}, // semicolons may be left out
		"SET color = @p": {now, int32(5), "red", "s1"},
	}
	for text, want := range tests {
		action, err := filter.ParseAction(text, amqp.Map{{Key: "@p", Value: now}})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		before := sample(t)
		edit, err := action.Apply(filter.NewMessage(before, now, 7))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		after := must.Get(amqp.ParseMessage(before.Edit(nil, edit)))(t)
		a, p := after.ApplicationProperties(), after.Properties()
		if a.Get("color") != want.color || a.Get("quantity") != want.quantity || p.Subject != want.label || p.GroupID != want.session {
			t.Errorf("%s: got %v, %+v", text, a, p)
		}
		if before.ApplicationProperties().Get("color") != "blue" || action.Expression() != text {
			t.Error("the message or the action has changed")
		}
	}
}

func TestActionErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "at 1: SET or REMOVE is due, not the end",
		"SET a":                         `at 6: "=" is due, not the end`,
		"SET a = ":                      "at 9: an expression is due, not the end",
		"SET a = (b = 1)":               "at 9: an expression is due, not a predicate",
		"SET a = 1 b = 2":               `at 11: SET or REMOVE is due, not "b"`,
		"REMOVE 1":                      `at 8: the name of a property is due, not "1"`,
		"SET sys.SequenceNumber = 1":    "at 5: system property SequenceNumber cannot be changed",
		strings.Repeat("REMOVE a;", 40): "at 297: more than 32 statements",
	} {
		if _, err := filter.ParseAction(text, nil); err == nil || err.Error() != want {
			t.Errorf("%.40s: got %v", text, err)
		}
	}
	action := must.Get(filter.ParseAction("SET a = 1/0", nil))(t)
	if _, err := action.Apply(filter.NewMessage(sample(t), now, 7)); err == nil {
		t.Error("no error")
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	f := must.Get(filter.ParseSQL("sys.Label = 'red' AND quantity > 3 AND color LIKE 'b%' AND price IN (1, 2.5) AND missing IS NULL", nil))(t)
	m := filter.NewMessage(sample(t), now, 7)
	if n := testing.AllocsPerRun(100, func() {
		if ok, err := f.Match(m); !ok || err != nil {
			t.Error(ok, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzSQL(f *testing.F) {
	for _, seed := range []string{
		"sys.Label = 'x' AND a > 1.5", "a NOT IN (1, -2) OR b LIKE '%x_' ESCAPE '\\'", "EXISTS([a b]) AND NOT \"c\" IS NOT NULL",
		"newid() = p('x') + @p % 0x1F", "((1=1))",
	} {
		f.Add(seed)
	}
	message := sample(f)
	f.Fuzz(func(t *testing.T, expression string) {
		compiled, err := filter.ParseSQL(expression, amqp.Map{{Key: "@p", Value: 1.5}})
		if err != nil {
			if syntax, ok := errors.AsType[*filter.SyntaxError](err); !ok || syntax.Position < 1 || syntax.Position > len(expression)+1 {
				t.Fatalf("%v", err)
			}
			return
		}
		if matched, err := compiled.Match(filter.NewMessage(message, now, 7)); matched && err != nil {
			t.Fatal("matched with an error")
		}
	})
}

func FuzzAction(f *testing.F) {
	f.Add("SET a = 'x'; REMOVE b")
	f.Add("SET sys.label = newid()")
	message := sample(f)
	f.Fuzz(func(t *testing.T, text string) {
		action, err := filter.ParseAction(text, nil)
		if err != nil {
			return
		}
		edit, err := action.Apply(filter.NewMessage(message, now, 7))
		if err != nil {
			return
		}
		must.Get(amqp.ParseMessage(message.Edit(nil, edit)))(t)
	})
}

func BenchmarkMatch(b *testing.B) {
	f := must.Get(filter.ParseSQL("sys.Label = 'red' AND quantity > 3 AND color LIKE 'b%'", nil))(b)
	message := sample(b)
	b.ReportAllocs()
	for b.Loop() {
		if ok, _ := f.Match(filter.NewMessage(message, now, 7)); !ok {
			b.Fatal("no match")
		}
	}
}
