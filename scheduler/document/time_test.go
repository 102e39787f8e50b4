package document_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

func TestParseTime(t *testing.T) {
	tests := []struct{ text, want string }{
		{"2012-11-04", "2012-11-04T00:00:00Z"},
		{"2012-08-04T00:00Z", "2012-08-04T00:00:00Z"},
		{"2012-08-04T07:30", "2012-08-04T07:30:00Z"},
		{"2012-08-04T07:30:15", "2012-08-04T07:30:15Z"},
		{"2012-08-04T07:30:15Z", "2012-08-04T07:30:15Z"},
		{"2016-03-30T20:39:52.6597062Z", "2016-03-30T20:39:52.6597062Z"},
		{"2012-08-04T07:30:15.123456789Z", "2012-08-04T07:30:15.123456789Z"},
		{"2024-01-10T13:50:00+05:30", "2024-01-10T08:20:00Z"},
		{"2024-01-01T00:10-00:20", "2024-01-01T00:30:00Z"},
		{"2024-02-29", "2024-02-29T00:00:00Z"},
		{"2000-02-29T23:59:59+00:00", "2000-02-29T23:59:59Z"},
		{"0001-01-01", "0001-01-01T00:00:00Z"},
		{"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"},
		{"20261207", "2026-12-07T00:00:00Z"},
		{"20261207T0900", "2026-12-07T09:00:00Z"},
		{"20261207T090000Z", "2026-12-07T09:00:00Z"},
		{"20261207T090007.25Z", "2026-12-07T09:00:07.25Z"},
		{"20261207T090000+0530", "2026-12-07T03:30:00Z"},
		{"20261207T0900-05", "2026-12-07T14:00:00Z"},
		{"2026-12-07T09:00:00+0530", "2026-12-07T03:30:00Z"},
		{"2026-12-07T09:00:00+05", "2026-12-07T04:00:00Z"},
	}
	for _, test := range tests {
		got, err := document.ParseTime(test.text)
		if err != nil || got.Format(time.RFC3339Nano) != test.want || got.Location() != time.UTC {
			t.Errorf("ParseTime(%q) = %v, %v; want %s", test.text, got, err, test.want)
		}
	}
}

// TestParseTimeOfFarYears: the year is what is wrong, and not the month behind it.
func TestParseTimeOfFarYears(t *testing.T) {
	_, err := document.ParseTime("10000-01-01")
	if err == nil || !strings.Contains(err.Error(), "year 10000 is not in 1-9999") {
		t.Errorf("%v", err)
	}
}

func TestParseTimeErrors(t *testing.T) {
	for _, text := range []string{
		"", "yesterday", "2024", "2024-01", "2024-1-01", "24-01-01", "2024-00-01", "2024-13-01", "2024-01-00", "2024-01-32",
		"2024-02-30", "2023-02-29", "1900-02-29", "0000-01-01", "2024-01-01T", "2024-01-01T10", "2024-01-01T1:00Z",
		"2024-01-01T25:00Z", "2024-01-01T24:00Z", "2024-01-01T00:60Z", "2024-01-01T00:00:60Z", "2024-01-01T00:00:00.Z",
		"2024-01-01T00:00:00.1234567890Z", "2024-01-01T00:00.5Z", "2024-01-01 00:00Z", "2024-01-01T00:00z", "2024-01-01T00:00ZZ",
		"2007-03-01T14:00:00Z ", " 2007-03-01T14:00:00Z", "2024-01-01Z", "2024-01-01+01:00", "2024-01-01T00:00+1:00",
		"2024-01-01T00:00+24:00", "2024-01-01T00:00+2400", "2024-01-01T00:00+010", "2024-01-01T00:00+01:", "2024-01-01T00:00+01000",
		"202401", "2024010", "20240132", "20240230", "20240101T", "20240101T10", "20240101T100", "20240101T10000", "20240101T2400Z",
		"20240101T100060Z", "20240101T1000.5Z", "20240101Z", "2024-0101", "202401-01", "20240101T10:00:0Z", "2024-01-01T00:00+01:60", "2024-01-01T00:00+", "+2024-01-01",
		"-2024-01-01", "２024-01-01",
	} {
		if got, err := document.ParseTime(text); err == nil {
			t.Errorf("ParseTime(%q) = %v, want an error", text, got)
		}
	}
}

// TestTimeMember shows that a time in basic form is kept in extended form, also where YAML takes it for a number.
func TestTimeMember(t *testing.T) {
	for text, want := range map[string]string{
		"t: 20261207": `{"t":"2026-12-07"}`, `{"t":"20261207T090000+0530"}`: `{"t":"2026-12-07T03:30:00Z"}`,
		`{"t":"2012-08-04T00:00Z"}`: `{"t":"2012-08-04T00:00Z"}`,
	} {
		v, err := document.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		o := document.NewReader().Object(v, "")
		if _, ok := o.Time("t"); !ok || v.String() != want {
			t.Errorf("%s: %s, not %s; %v", text, v, want, o.Reader().Err())
		}
	}
	v, _ := document.Parse([]byte(`{"t":1700000000}`))
	o := document.NewReader().Object(v, "")
	if _, ok := o.Time("t"); ok || o.Reader().Err().Error() != "t: must be a string, not a number" {
		t.Error(o.Reader().Err())
	}
}

func FuzzTime(f *testing.F) {
	for _, seed := range []string{"2012-11-04", "2016-03-30T20:39:52.6597062Z", "2024-01-10T13:50:00+05:30", "2024-02-30T25:61", "20261207T0900+0530"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := document.ParseTime(text)
		if err != nil {
			return
		}
		if got.Year() < 0 || got.Year() > 10_000 { // an offset may lead over the edge
			t.Fatalf("ParseTime(%q) = %v", text, got)
		}
		if again, err := document.ParseTime(got.Format(time.RFC3339Nano)); got.Year()%9999 > 0 && (err != nil || !again.Equal(got)) {
			t.Fatalf("ParseTime(%q) = %v, which reads as %v, %v", text, got, again, err)
		}
		// What the standard library reads too, it reads alike.
		if standard, err := time.Parse(time.RFC3339, text); err == nil && !standard.Equal(got) {
			t.Fatalf("ParseTime(%q) = %v, want %v", text, got, standard)
		}
	})
}
