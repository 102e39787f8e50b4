package scheduler_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestSelector matches selectors against labels.
func TestSelector(t *testing.T) {
	labels := map[string]string{"team": "billing", "tier": "a", "empty": "", "cost centre": "4,2", "in": "in", "url": "http://x/y"}
	for text, want := range map[string]bool{
		"":                                true,
		"  ":                              true,
		"team=billing":                    true,
		"team==billing":                   true,
		"team = billing , tier=a":         true,
		"team=shipping":                   false,
		"team=billing,tier=b":             false,
		"env=prod":                        false,
		"env!=prod":                       true,
		"team!=billing":                   false,
		"team!=shipping":                  true,
		"tier in (a,b)":                   true,
		"tier in (b, c)":                  false,
		"env in (a)":                      false,
		"tier notin (b,c)":                true,
		"tier notin (a, c)":               false,
		"env notin (a)":                   true,
		"team":                            true,
		"env":                             false,
		"!env":                            true,
		"! team":                          false,
		"empty=":                          true,
		"empty=,team":                     true,
		"team=":                           false,
		"empty!=":                         false,
		"in in (in,notin)":                true,
		"in":                              true,
		`"cost centre" = '4,2'`:           true,
		`"cost centre" in ("4,2", other)`: true,
		"url=http://x/y":                  true,
		`empty=""`:                        true,
		"team=Billing":                    false,
	} {
		s, err := scheduler.ParseSelector(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := s.Matches(labels); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

// TestSelectorMistakes covers invalid selectors.
func TestSelectorMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"team=billing,":      "column 14: the name of a label was expected here, not nothing",
		",team":              `column 1: the name of a label was expected here, not ","`,
		"team billing":       `column 6: =, !=, in or notin was expected here, not "billing"`,
		"team in a":          `column 9: "(" was expected here, not "a"`,
		"team in ()":         `column 10: a value was expected here, not ")"`,
		"team in (a":         `column 11: ")" was expected here, not nothing`,
		"team in (a b)":      `column 12: ")" was expected here, not "b"`,
		"team=a=b":           `column 7: "," was expected here, not "="`,
		"=a":                 `column 1: the name of a label was expected here, not "="`,
		"!":                  "column 2: the name of a label was expected here, not nothing",
		"!team=a":            `column 6: "," was expected here, not "="`,
		"team=(":             `column 6: a value was expected here, not "("`,
		"team>3":             "column 5: '>' must stand in quotes",
		`team="a`:            "column 6: the quote is not closed",
		"team = billing env": `column 16: "," was expected here, not "env"`,
	} {
		_, err := scheduler.ParseSelector(text)
		if !errors.Is(err, scheduler.ErrInvalid) || !strings.HasSuffix(err.Error(), "labelSelector: "+want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func FuzzSelector(f *testing.F) {
	for _, text := range []string{"", "a=b,!c", "a in (b,c),d notin ('e')", "a==", "'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scheduler.ParseSelector(text)
		if err != nil && !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("got %v", err)
		}
		s.Matches(map[string]string{"a": "b"})
	})
}
