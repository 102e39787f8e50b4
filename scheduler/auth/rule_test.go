package auth_test

import (
	"fmt"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/auth"
)

func TestRules(t *testing.T) {
	said := map[string][]string{
		"groups": {"dev", "team:a", "x=y"}, "sub": {"alice"}, "https://example.com/roles": {"ops"}, "empty": nil,
	}
	for text, want := range map[string]string{
		"groups:dev=operator@partners":        "[operator@partners]",
		"groups:team:a=admin":                 "[admin]",
		"groups:x=y=reader":                   "[reader]",
		"sub:*=reader":                        "[reader]",
		"empty:*=reader":                      "[]",
		"groups:de=admin":                     "[]",
		"groups:DEV=admin":                    "[]",
		"https://example.com/roles:ops=admin": "[admin]",
		"groups=admin":                        "error",
		"groups:=admin":                       "error",
		":dev=admin":                          "error",
		"groups:dev":                          "error",
		"groups:dev=owner":                    "error",
		"groups:dev=operator@":                "error",
	} {
		r, err := auth.ParseRule(text)
		got := "error"
		if err == nil {
			got = fmt.Sprint(auth.Grants([]auth.Rule{r}, func(a string) []string { return said[a] }))
		}
		if got != want {
			t.Errorf("%q: got %s, %v, want %s", text, got, err, want)
		}
	}
}
