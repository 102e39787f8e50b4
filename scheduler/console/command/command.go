// Package command writes commands that people copy from pages of the console. Whatever a job has in it, a shell runs nothing
// of that, and the command puts the job as it is.
package command

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// Quoted returns a text as one word of a POSIX shell.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// HereDocument returns a command that reads a text. Nothing of the text is changed by the shell, and no line of it ends it.
func HereDocument(command, text string) string {
	text = strings.TrimSuffix(text, "\n")
	end := "CARILLON"
	for n := 2; hasLine(text, end); n++ {
		end = fmt.Sprintf("CARILLON%d", n)
	}
	return command + " <<'" + end + "'\n" + text + "\n" + end + "\n"
}

// Put returns the command that puts a job by curl: body is what the REST API of a server takes. token has it send the access token
// that CARILLON_TOKEN holds, and condition is one more header, such as If-None-Match: *; "" for none.
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

// Untemplated keeps "nats pub" from taking a part of JSON for one of its templates. Outside of a text, no JSON without space
// has two brackets beside each other that open.
func Untemplated(json string) string { return strings.ReplaceAll(json, "{{", `{\u007b`) }
