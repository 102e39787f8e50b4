package rest_test

import (
	"strings"
	"testing"
)

// TestLabelSelector lists jobs by their labels, page by page.
func TestLabelSelector(t *testing.T) {
	const jobs = "/jobCollections/default/jobs"
	w := newWorld(t)
	labelled := func(labels string) string { return `{"labels": {` + labels + `}, "state": "disabled", ` + action + `}` }
	w.steps([]step{
		{"PUT", jobs + "/a", labelled(`"team": "billing", "env": "prod"`), `201 "occurrenceCount":0`},
		{"PUT", jobs + "/b", labelled(`"team": "billing"`), "201"},
		{"PUT", jobs + "/c", labelled(`"team": "shipping"`), "201"},
		{"PUT", jobs + "/d", later, "201"},
		{"PUT", jobs + "/e", labelled(`"team": "billing", "env": "test"`), "201"},
		{"GET", jobs + "?labelSelector=team%20in%20b", "", `400 {"path":"labelSelector","message":"column 9: \"(\" was expected here`},
	})
	for query, want := range map[string]string{
		"":                              "a b c d e",
		"?labelSelector=":               "a b c d e",
		"?labelSelector=team%3Dbilling": "a b e",
		"?labelSelector=team%3Dbilling,env!%3Dprod":                    "b e",
		"?labelSelector=team%20in%20(billing,shipping)&$top=2":         "a b c e",
		"?labelSelector=team%20in%20(billing,shipping)&$top=1&$skip=2": "c e",
		"?labelSelector=!team":                                         "d",
		"?labelSelector=team&$filter=state%20eq%20enabled":             "",
	} {
		var names []string
		for link := jobs + query; link != ""; {
			page := w.page(link)
			for _, j := range page.Value {
				names = append(names, strings.TrimPrefix(j.Name, "default/"))
			}
			if link = ""; page.NextLink != nil {
				link = *page.NextLink
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}
