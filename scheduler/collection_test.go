package scheduler_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// readCollection parses a collection from JSON; "" is none.
func readCollection(t *testing.T, text string) *scheduler.Collection {
	t.Helper()
	if text == "" {
		return nil
	}
	return must.Get(scheduler.ReadCollection("c", parseDocument(t, text)))(t)
}

// stored returns the stored form of a collection, and checks that it decodes to the same collection.
func stored(t *testing.T, c *scheduler.Collection) string {
	t.Helper()
	data := must.Get(c.Encode())(t)
	again, err := scheduler.DecodeCollection("c", 1, data)
	if err != nil || !again.Equals(c) {
		t.Errorf("%s is read as something else, %v", data, err)
	}
	return string(data)
}

// TestCollectionOver replaces collections in both states: only a document with a state changes it.
func TestCollectionOver(t *testing.T) {
	const named, off = `{"properties": {"state": "Enabled"}}`, `{"properties": {"state": "disabled"}}`
	for _, test := range []struct {
		document, before string
		want             scheduler.State
	}{
		{`{}`, "", scheduler.Enabled},
		{`{}`, `{}`, scheduler.Enabled},
		{`{}`, off, scheduler.Disabled},
		{`{"properties": {"state": null, "quota": {"maxJobCount": 2}}}`, off, scheduler.Disabled},
		{named, off, scheduler.Enabled},
		{off, `{}`, scheduler.Disabled},
		{off, "", scheduler.Disabled},
	} {
		got := readCollection(t, test.document).Replacing(readCollection(t, test.before))
		if got.State != test.want {
			t.Errorf("%s over %s: %s", test.document, test.before, got.State)
		}
		stored(t, got)
	}
}

// TestCollectionPatched merges documents into a collection.
func TestCollectionPatched(t *testing.T) {
	c := readCollection(t, `{"location": "here", "tags": {"a": "1"}, "properties": {"state": "disabled", "quota": {"maxJobCount": 5}}}`)
	for patch, want := range map[string]string{
		`{}`:                              `{"top":{"location":"here","tags":{"a":"1"}},"properties":{"state":"disabled","quota":{"maxJobCount":5}}}`,
		`{"tags": {"a": null, "b": "2"}}`: `{"top":{"location":"here","tags":{"b":"2"}},"properties":{"state":"disabled","quota":{"maxJobCount":5}}}`,
		`{"Properties": {"QUOTA": {"maxJobCount": 6}}}`:          `{"top":{"location":"here","tags":{"a":"1"}},"properties":{"state":"disabled","quota":{"maxJobCount":6}}}`,
		`{"location": null, "properties": {"state": "enabled"}}`: `{"top":{"tags":{"a":"1"}},"properties":{"state":"enabled","quota":{"maxJobCount":5}}}`,
		`{"properties": null}`:                                   `{"top":{"location":"here","tags":{"a":"1"}},"properties":{}}`,
	} {
		got, err := c.Patched(parseDocument(t, patch))
		if err != nil {
			t.Errorf("%s: %v", patch, err)
		} else if text := stored(t, got); text != want {
			t.Errorf("%s:\n got %s\nwant %s", patch, text, want)
		}
	}
	for _, patch := range []string{`[]`, `{"name": "d"}`, `{"id": "/jobCollections/d"}`, `{"properties": {"state": "deleted"}}`, `{"quota": {}}`} {
		if got, err := c.Patched(parseDocument(t, patch)); !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("%s: %v, %v", patch, got, err)
		}
	}
	if stored(t, c) != `{"top":{"location":"here","tags":{"a":"1"}},"properties":{"state":"disabled","quota":{"maxJobCount":5}}}` {
		t.Error("a patch has changed the collection it was merged into")
	}
}

// TestCollectionEquals compares collections that may write out defaults.
func TestCollectionEquals(t *testing.T) {
	for other, want := range map[string]bool{
		`{}`: true, `{"properties": {"state": "enabled"}}`: true, `{"name": "c", "properties": null}`: true,
		`{"properties": {"state": "disabled"}}`: false, `{"tags": {"a": "1"}}`: false, `{"properties": {"quota": {"maxJobCount": 1}}}`: false,
	} {
		if got := readCollection(t, `{}`).Equals(readCollection(t, other)); got != want {
			t.Errorf("%s: %v", other, got)
		}
	}
}

func TestWrongTargetRules(t *testing.T) {
	for targets, want := range map[string]string{
		`5`:                                "properties.targets: must be an object, not a number",
		`{"http://x": {}}`:                 `properties.targets["http://x"]: is not a target: write a host, a host and port, "*.example.com" or "*"`,
		`{"x": {"concurrency": 0}}`:        "properties.targets.x.concurrency: 0 is not in 1-1048576",
		`{"x": {"rate": {"per": "PT1S"}}}`: "properties.targets.x.rate.limit: is required",
		`{"x": {"rate": 5}}`:               "properties.targets.x.rate: must be an object, not a number",
		`{"x": {"concurency": 5}}`:         `properties.targets.x.concurency: unknown field; did you mean "concurrency"?`,
		`{"x": {}}`:                        "properties.targets.x: has no rule: give concurrency, rate or circuitBreaker",
		`{"X.example": {"concurrency": 1}, "x.example": {"concurrency": 2}}`:        `properties.targets["x.example"]: is given twice`,
		`{"x:99999": {"concurrency": 1}}`:                                           `properties.targets["x:99999"]: is not a target`,
		`{"a*.x": {"concurrency": 1}}`:                                              `properties.targets["a*.x"]: is not a target`,
		`{"x": {"circuitBreaker": {"openFor": "PT1H", "maxPostponement": "PT1M"}}}`: "maxPostponement: PT1M is shorter than the allowed PT1H",
		`{"x": {"circuitBreaker": {"openFor": "P1M"}}}`:                             "properties.targets.x.circuitBreaker.openFor: P1M must not use years or months",
	} {
		if _, err := scheduler.ReadCollection("other", parseDocument(t, `{"properties": {"targets": `+targets+`}}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", targets, err, want)
		}
	}
}
