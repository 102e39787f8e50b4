package initfile

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestText writes a file for every action type; each is checked as a scheduler reads it.
func TestText(t *testing.T) {
	nasty := `a "b" # c: {d}` + "\nyes"
	for _, c := range []Command{
		{Name: "a", Every: "5m"},
		{Name: "a", Every: "5m", URL: "https://example.com/a?b=c#d", Method: "get"},
		{Name: "team/a", Cron: "0 9 * * 1-5", TimeZone: "Europe/Paris", URL: "http://x.example", Message: nasty},
		{Name: "a", Type: "STORAGEQUEUE", Every: "1h30m", Account: "contoso", Queue: "orders", Message: nasty},
		{Name: "a", At: "2099-01-01", Account: "contoso", Queue: "orders"},
		{Name: "a", At: "2099-01-01T09:00:00+02:00", Every: "2 weeks", Namespace: "contoso", Queue: "orders", Message: "yes"},
		{Name: "a", Every: "month", Namespace: "contoso", Topic: "sales", Message: nasty},
		{Name: "a", Every: "second", Subject: "lights.all", Message: "off"},
	} {
		text, _, err := c.Text()
		if err != nil {
			t.Errorf("%+v: %v\n%s", c, err, text)
		}
		for line := range strings.Lines(text) {
			if strings.ContainsAny(line, "\t") || len(line) > 130 {
				t.Errorf("%s", line)
			}
		}
	}
}

// TestCommentedLines turns on each line that is commented out, by itself.
func TestCommentedLines(t *testing.T) {
	commented := regexp.MustCompile(`(?m)^( *)# ([a-zA-Z]+: .*)$`)
	count := 0
	for _, c := range []Command{
		{Name: "a", Every: "5m", Method: "get"},
		{Name: "a", Cron: "0 9 * * 1-5", Account: "contoso", Queue: "orders"},
		{Name: "a", At: "2099-01-01", Namespace: "contoso", Queue: "orders"},
		{Name: "a", Every: "month", Namespace: "contoso", Topic: "sales"},
		{Name: "a", Every: "5m", Subject: "lights.all"},
	} {
		text, k, err := c.Text()
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range commented.FindAllStringSubmatchIndex(text, -1) {
			on := text[:at[3]] + text[at[4]:]
			if err := checked(k, on); err != nil {
				t.Errorf("%s: %v", text[at[0]:at[1]], err)
			}
			count++
		}
	}
	if count < 30 {
		t.Errorf("only %d lines were found", count)
	}
}

func TestMistakes(t *testing.T) {
	for _, test := range []struct {
		command Command
		want    string
	}{
		{Command{}, "the name of the job is missing"},
		{Command{Name: "a b", Every: "5m"}, `job: "a b" must not contain`},
		{Command{Name: "a"}, "set --every, --cron or --at"},
		{Command{Name: "a", Every: "5m", Cron: "* * * * *"}, "exclude each other"},
		{Command{Name: "a", Every: "often"}, `--every: "often" is not like 30s`},
		{Command{Name: "a", Every: "1 month 2 days"}, "--every: "},
		{Command{Name: "a", Every: "0m"}, "--every: "},
		{Command{Name: "a", At: "tomorrow"}, "--at: "},
		{Command{Name: "a", Every: "5m", TimeZone: "Europe/Paris"}, "--tz requires --cron"},
		{Command{Name: "a", Cron: "99 * * * *"}, "recurrence.cron"},
		{Command{Name: "a", Every: "5m", Type: "ftp"}, `--type: "ftp" is not one of http, storageQueue`},
		{Command{Name: "a", Every: "5m", Type: "natsMessage"}, "--subject is missing: an action of type natsMessage needs it"},
		{Command{Name: "a", Every: "5m", Queue: "q"}, "--account is missing"},
		{Command{Name: "a", Every: "5m", Subject: "s", URL: "http://x"}, "--url does not go with an action of type natsMessage"},
		{Command{Name: "a", Every: "5m", URL: "ftp://x"}, "action.request.uri"},
	} {
		if _, _, err := test.command.Text(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %s", test.command, err, test.want)
		}
	}
}

func TestEvery(t *testing.T) {
	for text, want := range map[string]string{
		"30s": "30 second", "5m": "5 minute", "5 min": "5 minute", "1h": "1 hour", "1h30m": "90 minute", "day": "1 day", "2 weeks": "2 week",
		"1d12h": "36 hour", "3 Months": "3 month", "year": "1 year", "1m30s": "90 second",
	} {
		frequency, interval, err := ReadEvery(text)
		if got := strconv.Itoa(interval) + " " + frequency; err != nil || got != want {
			t.Errorf("%s: got %s, %v", text, got, err)
		}
	}
}
