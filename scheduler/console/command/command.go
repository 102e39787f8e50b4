// Package command formats shell commands that users copy from the console. A shell executes no part of a job, and the
// command transmits the job unchanged.
package command

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// Quoted returns a text as one word of a POSIX shell.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// HereDocument returns a command that reads a text. The shell does not change the text, and no line of it ends the
// document.
func HereDocument(command, text string) string {
	text = strings.TrimSuffix(text, "\n")
	end := "CARILLON"
	for n := 2; hasLine(text, end); n++ {
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

func hasLine(text, line string) bool {
	for one := range strings.SplitSeq(text, "\n") {
		if one == line {
			return true
		}
	}
	return false
}

// Untemplated escapes JSON that "nats pub" would expand as a template. Compact JSON has two adjacent opening braces
// only within texts.
func Untemplated(json string) string { return strings.ReplaceAll(json, "{{", `{\u007b`) }
