package payload

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
)

// azureXML returns the text in the envelope that Azure Scheduler put around the messages of storage queues (Azure WebJobs
// SDK, issue 85, has one). The declaration says utf-16, as Azure's did, although the message travels as UTF-8: consumers
// read it from a string. The execution time has neither zone nor fraction.
func azureXML(a scheduler.Attempt, region, text string) string {
	id := Identify(a)
	var b strings.Builder
	b.Grow(640 + len(text))
	b.WriteString(`<?xml version="1.0" encoding="utf-16"?>` + "\n" +
		`<StorageQueueMessage xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">` + "\n")
	for _, element := range [...][2]string{
		{"ExecutionTag", id.Tag},
		{"ClientRequestId", id.RequestID},
		{"ExpectedExecutionTime", a.Nominal.UTC().Format("2006-01-02T15:04:05")},
		{"SchedulerJobId", a.Job.Job},
		{"SchedulerJobCollectionId", scheduler.PlainName(a.Job.Collection)},
		{"Region", region},
		{"Message", text},
	} {
		b.WriteString("  <" + element[0] + ">")
		_, _ = xmlEscaper.WriteString(&b, element[1]) // a builder takes everything
		b.WriteString("</" + element[0] + ">\n")
	}
	b.WriteString("</StorageQueueMessage>")
	return b.String()
}

// xmlEscaper escapes the content of an element. A carriage return that is not escaped would be read as a line feed (XML
// 1.0, section 2.11).
var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#xD;")

// InXML reports whether XML 1.0 has a character (section 2.2 of its specification).
func InXML(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000
}

// checkXML reports the first character of text that no XML document can hold (XML 1.0, section 2.2).
func checkXML(text string) error {
	for i, r := range text {
		if !InXML(r) {
			return fmt.Errorf("the character %U at %s cannot be sent in the envelope %s: XML does not have it",
				r, position(text, i), AzureScheduler)
		}
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("is not valid UTF-8, which the envelope %s needs", AzureScheduler)
	}
	return nil
}
