package main

import (
	"fmt"
	"strings"
	"time"
)

// manual is the man page. commands are lines of a command and what it does, with a tab between.
func manual(commands, version string, at time.Time) []byte {
	var page strings.Builder
	fmt.Fprintf(&page, ".TH CARILLON 1 %s \"carillon %s\"\n", at.Format(time.DateOnly), version)
	page.WriteString(`.SH NAME
carillon \- job scheduler on NATS JetStream
.SH SYNOPSIS
.B carillon
.I COMMAND
.RI [ FLAG \&...]
.SH DESCRIPTION
A job is a JSON or YAML document: when to run, what to call, how to retry.
Carillon makes the call on time, and records how it went.
.PP
.B carillon help
.I COMMAND
tells of the flags of a command and has examples, and
.B carillon docs
has the reference pages.
.SH COMMANDS
`)
	for line := range strings.Lines(commands) {
		name, help, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && !strings.HasPrefix(name, "-") {
			fmt.Fprintf(&page, ".TP\n.B %s\n%s.\n", roff(name), roff(help))
		}
	}
	page.WriteString(`.SH EXIT STATUS
0 done, 1 refused or failed, 2 a wrong command line, 3 not found, 4 a conflict, 5 unavailable, 130 interrupted.
.SH FILES
.TP
.I ~/.config/carillon/config.yaml
The contexts of
.BR "carillon context" .
`)
	return []byte(page.String())
}

// roff lets a line stand for itself.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
