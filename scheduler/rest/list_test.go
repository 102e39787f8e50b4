package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestListOfFewAmongMany looks for the few jobs of a state, or with a label, among many: each request looks at so many
// that others get their turn, and its answer says where the next one goes on, with what is still to be skipped.
func TestListOfFewAmongMany(t *testing.T) {
	w := newWorld(t)
	const jobs, rare = 2500, 500
	for i := range jobs {
		extra := ""
		if i%rare == rare-1 {
			extra = `, "state": "disabled", "labels": {"rare": "yes"}`
		}
		w.must(http.MethodPut, fmt.Sprintf("/jobCollections/default/jobs/j%04d", i), `{"action": {"type": "Http", "request": {"uri": "http://x.example", "method": "GET"}}, "startTime": "2099-01-01T00:00:00Z"`+extra+`}`)
	}
	for query, want := range map[string]string{
		"?$filter=state+eq+disabled":         "default/j0499 default/j0999 default/j1499 default/j1999 default/j2499",
		"?labelSelector=rare":                "default/j0499 default/j0999 default/j1499 default/j1999 default/j2499",
		"?$filter=state+eq+disabled&$skip=4": "default/j2499",
		"?$filter=state+eq+disabled&$top=4":  "default/j0499 default/j0999 default/j1499 default/j1999 default/j2499",
		"?$skip=2499":                        "default/j2499",
		"?$filter=state+eq+damaged":          "",
	} {
		var names []string
		link := "/jobCollections/default/jobs" + query
		pages := 0
		for ; link != "" && pages < 9; pages++ {
			page := w.page(link)
			for _, v := range page.Value {
				names = append(names, v.Name)
			}
			if link = ""; page.NextLink != nil {
				link = *page.NextLink
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		if (pages == 2) != (query != "?$skip=2499") { // the index finds that one
			t.Errorf("%s: %d pages", query, pages)
		}
	}
}
