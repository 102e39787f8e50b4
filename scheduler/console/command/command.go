// Package command formats shell commands that users copy from the console. A shell executes no part of a job, and the
// command transmits the job unchanged.
package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Quoted returns a text as one word of a POSIX shell.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// HereDocument returns a command that reads a text. The shell does not change the text, and no line of it ends the
// document.
func HereDocument(command, text string) string {
	text = strings.TrimSuffix(text, "\n")
	lines, end := strings.Split(text, "\n"), "CARILLON"
	for n := 2; slices.Contains(lines, end); n++ {
		end = fmt.Sprintf("CARILLON%d", n)
	}
	return command + " <<'" + end + "'\n" + text + "\n" + end + "\n"
}

// Put returns the curl command that puts a job: body is a request body of the REST API at server. token adds the access
// token in CARILLON_TOKEN. condition is an additional header, such as If-None-Match: *; "" for none.
func Put(server string, k scheduler.Key, token bool, condition, body string) string {
	curl := "curl --fail-with-body -X PUT " + Quoted(server+"/jobCollections/"+k.Collection+"/jobs/"+k.Job)
	if token {
		curl += " \\\n  -H \"Authorization: Bearer $CARILLON_TOKEN\""
	}
	curl += " \\\n "
	if condition != "" {
		curl += " -H " + Quoted(condition)
	}
	return HereDocument(curl+" -H 'Content-Type: application/json' --data-binary @-", body)
}

// action is a part of a template.
var action = regexp.MustCompile(`(?s){{.*?}}`)

// Request returns the curl command of an HTTP request: the member request of an action, sent to uri. It has no secrets.
func Request(uri string, request document.Value) string {
	method, _ := request.Member("method")
	headers, _ := request.Member("headers")
	body, _ := request.Member("body")
	options := []string{"curl -g -X " + method.Text() + " " + Quoted(uri)} // -g: brackets in the URI are no patterns
	if method.Text() == http.MethodHead {
		options[0] = "curl -g --head " + Quoted(uri)
	}
	typed := body.Text() == ""
	for _, m := range headers.Members() {
		value := ": " + m.Value.Text()
		switch shared, _ := m.Value.Member("secretRef"); {
		case m.Value.Kind() == document.KindNull:
			continue
		case m.Value.IsSecret():
			value = ": (secret)"
		case shared.Text() != "":
			value = ": (secret " + shared.Text() + ")"
		case m.Value.Text() == "":
			value = ";" // curl removes a header with a colon and no value
		}
		typed = typed || strings.EqualFold(m.Name, "Content-Type")
		options = append(options, "-H "+Quoted(m.Name+value))
	}
	if json.Valid([]byte(action.ReplaceAllString(body.Text(), "0"))) && !typed { // as the action does, after it has expanded a template
		options = append(options, "-H 'Content-Type: application/json'")
	} else if !typed {
		options = append(options, "-H 'Content-Type: text/plain; charset=utf-8'")
	}
	if body.Text() != "" {
		options = append(options, "--data-raw "+Quoted(body.Text()))
	}
	return strings.Join(options, " \\\n  ")
}

// Untemplated escapes JSON that "nats pub" would expand as a template. Compact JSON has two adjacent opening braces
// only within texts.
func Untemplated(json string) string { return strings.ReplaceAll(json, "{{", `{\u007b`) }
