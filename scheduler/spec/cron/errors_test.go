package cron

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// cronErrors are texts that are wrong, and every word that is said about them.
var cronErrors = []struct {
	dialect language.Dialect
	text    string
	errors  []string
}{
	{language.Obsidian, `60 24 32 13 8`, []string{
		`column 1, field 1 (minute): 60 is not in 0-59; hint: the last minute of an hour is 59; every full hour is 0 * * * *`,
		`column 4, field 2 (hour): 24 is not in 0-23; hint: midnight is hour 0 of the day that it begins`,
		`column 7, field 3 (day of month): 32 is not in 1-31`,
		`column 10, field 4 (month): 13 is not in 1-12`,
		`column 13, field 5 (day of week): 8 is not in 0-7; hint: 0 and 7 are Sunday, 6 is Saturday`,
	}},
	{language.Obsidian, `* 24 * * *`, []string{`column 3, field 2 (hour): 24 is not in 0-23; hint: midnight is hour 0 of the day that it begins`}},
	{language.Obsidian, `* * 0 0 *`, []string{
		`column 5, field 3 (day of month): 0 is not in 1-31; hint: the first day is 1, the last day is L`,
		`column 7, field 4 (month): 0 is not in 1-12; hint: January is 1`,
	}},
	{language.Obsidian, `a * * * *`, []string{`column 1, field 1 (minute): "a" is not a minute; minutes are 0-59`}},
	{language.Obsidian, `* * * FOO *`, []string{`column 7, field 4 (month): "FOO" is not a month; months are 1-12 or JAN-DEC`}},
	{language.Obsidian, `* * * JANUARY *`, []string{`column 7, field 4 (month): "JANUARY" is not a month; months are 1-12 or JAN-DEC; hint: write JAN; names have three letters`}},
	{language.Obsidian, `* * * * MONDAY`, []string{`column 9, field 5 (day of week): "MONDAY" is not a day of the week; days of the week are 0-7 (0 and 7 are Sunday) or SUN-SAT; hint: write MON; names have three letters`}},
	{language.Obsidian, `* * * * Tues`, []string{`column 9, field 5 (day of week): "Tues" is not a day of the week; days of the week are 0-7 (0 and 7 are Sunday) or SUN-SAT; hint: write TUE; names have three letters`}},
	{language.Obsidian, `MON * * * *`, []string{`column 1, field 1 (minute): "MON" is not a minute; minutes are 0-59; hint: MON is a day of the week; days of the week belong in field 5`}},
	{language.Obsidian, `* * JUL * *`, []string{`column 5, field 3 (day of month): "JUL" is not a day of the month; days of the month are 1-31; hint: JUL is a month; months belong in field 4`}},
	{language.Obsidian, `* * MON-WED * *`, []string{`column 5, field 3 (day of month): "MON" is not a day of the month; days of the month are 1-31; hint: MON is a day of the week; days of the week belong in field 5`}},
	{language.Obsidian, `* * * * JUL`, []string{`column 9, field 5 (day of week): "JUL" is not a day of the week; days of the week are 0-7 (0 and 7 are Sunday) or SUN-SAT; hint: JUL is a month; months belong in field 4`}},
	{language.Obsidian, `* * JAN * *`, []string{`column 5, field 3 (day of month): "JAN" is not a day of the month; days of the month are 1-31; hint: JAN is a month; months belong in field 4`}},
	{language.Obsidian, `* * * MON *`, []string{`column 7, field 4 (month): "MON" is not a month; months are 1-12 or JAN-DEC; hint: MON is a day of the week; days of the week belong in field 5`}},
	{language.Obsidian, `* * * * JAN`, []string{`column 9, field 5 (day of week): "JAN" is not a day of the week; days of the week are 0-7 (0 and 7 are Sunday) or SUN-SAT; hint: JAN is a month; months belong in field 4`}},
	{language.Obsidian, `0 9 * * MNO`, []string{`column 9, field 5 (day of week): "MNO" is not a day of the week; days of the week are 0-7 (0 and 7 are Sunday) or SUN-SAT; hint: did you mean MON?`}},
	{language.Obsidian, `* * * *`, []string{`column 7: 4 fields found; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: for example, 30 19 * * 5 is 19:30 on every Friday, and */15 9-17 * * 1-5 is every 15 minutes of a working day`}},
	{language.Obsidian, `* * * * * * * *`, []string{`column 15: 8 fields found; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone`}},
	{language.Obsidian, `hello`, []string{`column 1: 1 field found; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: for example, 30 19 * * 5 is 19:30 on every Friday, and */15 9-17 * * 1-5 is every 15 minutes of a working day`}},
	{language.Obsidian, `*/0 * * * *`, []string{`column 3, field 1 (minute): the step is 0; a step is at least 1`}},
	{language.Obsidian, `*/ * * * *`, []string{`column 3, field 1 (minute): the step after "/" is missing; hint: */5 is every fifth value, from the first`}},
	{language.Obsidian, `/5 * * * *`, []string{`column 1, field 1 (minute): "/5" is not a minute; minutes are 0-59; hint: a step needs a start: */5`}},
	{language.Obsidian, `5/x * * * *`, []string{`column 3, field 1 (minute): the step "x" is not a whole number`}},
	{language.Obsidian, `1-2-3 * * * *`, []string{`column 1, field 1 (minute): "1-2-3" is not a minute; minutes are 0-59; hint: a range has a start and an end, as in 1-5`}},
	{language.Obsidian, `1- * * * *`, []string{`column 1, field 1 (minute): "1-" is not a minute; minutes are 0-59; hint: a range has a start and an end, as in 1-5`}},
	{language.Obsidian, `-5 * * * *`, []string{`column 1, field 1 (minute): "-5" is not a minute; minutes are 0-59; hint: a range has a start and an end, as in 1-5`}},
	{language.Obsidian, `1,,2 * * * *`, []string{`column 3, field 1 (minute): an element of the list is empty; hint: separate elements by commas, without spaces`}},
	{language.Obsidian, `1, 2 * * * *`, []string{`column 3, field 1 (minute): an element of the list is empty; hint: separate elements by commas, without spaces`}},
	{language.Obsidian, `1.5 * * * *`, []string{`column 1, field 1 (minute): "1.5" is not a minute; minutes are 0-59; hint: write whole numbers; minute and hour are fields 1 and 2`}},
	{language.Obsidian, `*5 * * * *`, []string{`column 1, field 1 (minute): "*5" is not a minute; minutes are 0-59; hint: * must be alone or before a step: */5 is every fifth value`}},
	{language.Obsidian, `1/2/3 * * * *`, []string{`column 3, field 1 (minute): the step "2/3" is not a whole number`}},
	{language.Obsidian, `0x10 * * * *`, []string{`column 1, field 1 (minute): "0x10" is not a minute; minutes are 0-59`}},
	{language.Obsidian, `٣ * * * *`, []string{`column 1, field 1 (minute): found the character '٣' (U+0663); a field has ASCII characters only; hint: write it with the ASCII digit 3`}},
	{language.Obsidian, `0 0 ３ * *`, []string{`column 5, field 3 (day of month): found the character '３' (U+FF13); a field has ASCII characters only; hint: write it with the ASCII digit 3`}},
	{language.Obsidian, `1–5 * * * *`, []string{`column 2, field 1 (minute): found the character '–' (U+2013); a field has ASCII characters only; hint: write an ASCII hyphen, -`}},
	{language.Obsidian, `? * * * *`, []string{`column 1, field 1 (minute): "?" is not a minute; minutes are 0-59; hint: ? is Quartz's way to say nothing; write *`}},
	{language.Obsidian, `0 0 12 * * ?`, []string{`column 12, field 6 (year): "?" is not a year; years are 2010-2999; hint: this looks like a line of Quartz, whose first field is the second; here it is written "0 12 * * *"`}},
	{language.Obsidian, `0 15 10 ? * MON-FRI`, []string{`column 9, field 4 (month): "?" is not a month; months are 1-12 or JAN-DEC; hint: this looks like a line of Quartz, whose first field is the second; here it is written "15 10 * * MON-FRI"`}},
	{language.Obsidian, `0 15 10 ? * 2-6 2025`, []string{`column 9, field 4 (month): "?" is not a month; months are 1-12 or JAN-DEC; hint: this looks like a line of Quartz, whose first field is the second; here it is written "15 10 * * MON-FRI 2025"`}},
	{language.Obsidian, `0 0 12 1/5 * ?`, []string{`column 14, field 6 (year): "?" is not a year; years are 2010-2999; hint: this looks like a line of Quartz, whose first field is the second; here it is written "0 12 1/5 * *"`}},
	{language.Obsidian, `0 30 23 * * 1-5`, []string{`column 3, field 2 (hour): 30 is not in 0-23; hint: this looks like a line of Quartz, whose first field is the second; here it is written "30 23 * * 1-5"`}},
	{language.Obsidian, `0 0 12 ? * 6#3`, []string{`column 8, field 4 (month): "?" is not a month; months are 1-12 or JAN-DEC; hint: this looks like a line of Quartz, whose first field is the second; here it is written "0 12 * * FRI#3"`}},
	{language.Obsidian, `@fortnightly`, []string{`column 1: "@fortnightly" is not a shortcut; those are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly, and @recur with an interval; hint: every two weeks is @recur 2 weeks`}},
	{language.Obsidian, `@dayly`, []string{`column 1: "@dayly" is not a shortcut; those are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly, and @recur with an interval; hint: did you mean @daily?`}},
	{language.Obsidian, `@daily 5`, []string{`column 8: found "5" after @daily, which must be alone; hint: @daily is "0 0 * * *"`}},
	{language.Obsidian, `@reboot`, []string{`column 1: "@reboot" is not a shortcut; those are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly, and @recur with an interval; hint: it names no time; a job without a recurrence runs once, as soon as it is created`}},
	{language.Obsidian, `@every 5m`, []string{`column 1: "@every" is not a shortcut; those are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly, and @recur with an interval; hint: every 5 minutes is */5 * * * *`}},
	{language.Obsidian, `@every 5 minutes`, []string{`column 1: "@every" is not a shortcut; those are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly, and @recur with an interval; hint: every 5 minutes is */5 * * * *`}},
	{language.Obsidian, `@every 90 min`, []string{`column 1: "@every" is not a shortcut; those are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly, and @recur with an interval; hint: write @recur 90 minutes`}},
	{language.Obsidian, `@RECUR`, []string{`column 1: "@RECUR" is not complete; @recur is followed by a number, a unit and optionally a date and time (yyyy-MM-dd HH:mm); hint: for example, @recur 3 weeks`}},
	{language.Obsidian, `every 5 minutes`, []string{`column 1: found "every 5 minutes"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: every 5 minutes is */5 * * * *`}},
	{language.Obsidian, `Every 7 minutes`, []string{`column 1: found "Every 7 minutes"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: write @recur 7 minutes`}},
	{language.Obsidian, `every 2 weeks`, []string{`column 1: found "every 2 weeks"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: write @recur 2 weeks`}},
	{language.Obsidian, `every day`, []string{`column 1: found "every day"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: every day is 0 0 * * *`}},
	{language.Obsidian, `daily`, []string{`column 1: found "daily"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: write @daily`}},
	{language.Obsidian, `at 5 pm`, []string{`column 1: found "at 5 pm"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: for example, 30 19 * * 5 is 19:30 on every Friday, and */15 9-17 * * 1-5 is every 15 minutes of a working day`}},
	{language.Obsidian, `0 22-2 * * *`, []string{`column 3, field 2 (hour): the range "22-2" runs backwards; hint: to go over the end, write 22-23,0-2`}},
	{language.Obsidian, `0 0 20-10 * *`, []string{`column 5, field 3 (day of month): the range "20-10" runs backwards; hint: to go over the end, write 20-31,1-10`}},
	{language.Obsidian, `0 0 * * FRI-MON`, []string{`column 9, field 5 (day of week): the range "FRI-MON" runs backwards; hint: to go over the end, write FRI-SUN,MON`}},
	{language.Obsidian, `0 0 * * 5-2`, []string{`column 9, field 5 (day of week): the range "5-2" runs backwards; hint: to go over the end, write 5-7,1-2`}},
	{language.Obsidian, `0 0 * DEC-FEB *`, []string{`column 7, field 4 (month): the range "DEC-FEB" runs backwards; hint: to go over the end, write DEC,JAN-FEB`}},
	{language.Obsidian, `0 0 1 1 * 2030-2020`, []string{`column 11, field 6 (year): the range "2030-2020" runs backwards; hint: write 2020-2030`}},
	{language.Obsidian, `0 0 1 1 * 20`, []string{`column 11, field 6 (year): 20 is not in 2010-2999; hint: a year has four digits: 2020`}},
	{language.Obsidian, `0 0 1 1 * 3000`, []string{`column 11, field 6 (year): 3000 is not in 2010-2999`}},
	{language.Obsidian, `0 0 1 1 * 2009`, []string{`column 11, field 6 (year): 2009 is not in 2010-2999`}},
	{language.Obsidian, `0 9 * * 1-5 Europe/London`, []string{`column 13, field 6 (year): "Europe/London" is not a year; years are 2010-2999; hint: a time zone is field 7, after the year; for every year write "0 9 * * 1-5 * Europe/London"`}},
	{language.Obsidian, `0 9 * * 1-5 UTC`, []string{`column 13, field 6 (year): "UTC" is not a year; years are 2010-2999; hint: a time zone is field 7, after the year; for every year write "0 9 * * 1-5 * UTC"`}},
	{language.Obsidian, `0 9 * * 1-5 * BST`, []string{
		`column 15, field 7 (time zone): "BST" is not a time zone; Java reads it as Asia/Dhaka, others as Europe/London or ` +
			`Pacific/Bougainville: use the name of that zone`,
	}},
	{language.Obsidian, `0 9 * * 1-5 * Mars/Olympus`, []string{`column 15, field 7 (time zone): "Mars/Olympus" is not a time zone of the IANA database, such as America/New_York or UTC`}},
	{language.Obsidian, `0 5 * * * /usr/bin/backup now`, []string{
		`column 11, field 6 (year): "/usr/bin/backup" is not a year; years are 2010-2999; hint: a crontab line's command is no part of the schedule`,
		`column 27, field 7 (time zone): "now" is not a time zone of the IANA database, such as America/New_York or UTC`,
	}},
	{language.Obsidian, `CRON_TZ=Europe/London 0 9 * * *`, []string{`column 1: found "CRON_TZ=Europe/London"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: the job's timeZone is the zone of its schedule, and field 7 of a pattern is its own`}},
	{language.Obsidian, `H * * * *`, []string{`column 1, field 1 (minute): "H" is not a minute; minutes are 0-59; hint: H and R belong to the dialect dsari, where a job's name chooses the value; write a number here`}},
	{language.Obsidian, `H(0-7) H * * *`, []string{
		`column 1, field 1 (minute): "H(0-7)" is not a minute; minutes are 0-59; hint: H and R belong to the dialect dsari, where a job's name chooses the value; write a number here`,
		`column 8, field 2 (hour): "H" is not an hour; hours are 0-23; hint: H and R belong to the dialect dsari, where a job's name chooses the value; write a number here`,
	}},
	{language.Obsidian, `R/5 * * * *`, []string{`column 1, field 1 (minute): "R/5" is not a minute; minutes are 0-59; hint: H and R belong to the dialect dsari, where a job's name chooses the value; write a number here`}},
	{language.Obsidian, `0 0 LW * *`, []string{`column 5, field 3 (day of month): LW is not a day of the month; hint: the last weekday of a month cannot be said here; an RRULE can: FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1`}},
	{language.Obsidian, `0 0 L-3 * *`, []string{`column 5, field 3 (day of month): "L-3" is not a day of the month; L alone is the last day; hint: an RRULE counts days from the end: FREQ=MONTHLY;BYMONTHDAY=-3`}},
	{language.Obsidian, `0 0 W * *`, []string{`column 5, field 3 (day of month): W needs a day before it; hint: 15W is the weekday nearest to the 15th`}},
	{language.Obsidian, `0 0 15W,20 * *`, []string{`column 5, field 3 (day of month): "15W": W goes with a single day, not with a list, a range or a step; hint: unite several patterns with semicolons`}},
	{language.Obsidian, `0 0 15W-20 * *`, []string{`column 5, field 3 (day of month): "15W-20": W goes with a single day, not with a list, a range or a step; hint: unite several patterns with semicolons`}},
	{language.Obsidian, `0 0 0W * *`, []string{`column 5, field 3 (day of month): 0 is not in 1-31; hint: the first day is 1, the last day is L`}},
	{language.Obsidian, `0 0 32W * *`, []string{`column 5, field 3 (day of month): 32 is not in 1-31`}},
	{language.Obsidian, `0 0 5L * *`, []string{`column 5, field 3 (day of month): "5L" is not a day of the month; L alone is the last day; hint: the last of a weekday belongs in field 5 (day of week): 5L is the last Friday`}},
	{language.Obsidian, `0 0 5#2 * *`, []string{`column 5, field 3 (day of month): "5#2" is not a day of the month; hint: # belongs in field 5 (day of week): 5#2 is the second Friday`}},
	{language.Obsidian, `0 0 * * L`, []string{`column 9, field 5 (day of week): L needs a day of the week before it; hint: 5L is the last Friday of the month; the last day of the month is L in field 3 (day of month); Saturday is 6 or SAT`}},
	{language.Obsidian, `0 0 * * 5#0`, []string{`column 11, field 5 (day of week): "0" after # is not in 1-5; a month has up to 5 of a weekday`}},
	{language.Obsidian, `0 0 * * fri#x`, []string{`column 13, field 5 (day of week): "x" after # is not in 1-5; a month has up to 5 of a weekday`}},
	{language.Obsidian, `0 0 * * 5#`, []string{`column 11, field 5 (day of week): "" after # is not in 1-5; a month has up to 5 of a weekday`}},
	{language.Obsidian, `0 0 * * 5#6`, []string{`column 11, field 5 (day of week): "6" after # is not in 1-5; a month has up to 5 of a weekday`}},
	{language.Obsidian, `0 0 * * #2`, []string{`column 9, field 5 (day of week): # needs a day of the week before it; hint: 5#2 is the second Friday of the month`}},
	{language.Obsidian, `0 0 * * 8#2`, []string{`column 9, field 5 (day of week): 8 is not in 0-7; hint: 0 and 7 are Sunday, 6 is Saturday`}},
	{language.Obsidian, `0 0 * * 15W`, []string{`column 9, field 5 (day of week): "15W" is not a day of the week; hint: W belongs in field 3 (day of month): 15W is the weekday nearest to the 15th`}},
	{language.Obsidian, `L * * * *`, []string{`column 1, field 1 (minute): "L" is not a minute; minutes are 0-59; hint: L and W belong in field 3 (day of month), L and # in field 5 (day of week)`}},
	{language.Obsidian, `0 0 * * *;`, []string{`column 10: pattern 2 of 2 is empty; hint: separate patterns by one semicolon`}},
	{language.Obsidian, `;0 0 * * *`, []string{`column 1: pattern 1 of 2 is empty; hint: separate patterns by one semicolon`}},
	{language.Obsidian, `0 0 * * *;;0 1 * * *`, []string{`column 10: pattern 2 of 3 is empty; hint: separate patterns by one semicolon`}},
	{language.Obsidian, `0 0 * * *; 0 0 * * 9`, []string{`column 20, field 5 (day of week): 9 is not in 0-7; hint: 0 and 7 are Sunday, 6 is Saturday`}},
	{language.Obsidian, `@recur 5 days; @daily`, []string{`column 14: found ";"; @recur cannot be united with other patterns; hint: make a job of each`}},
	{language.Obsidian, `@daily; @recur 5 days`, []string{`column 9: @recur cannot be united with other patterns; hint: make a job of it`}},
	{language.Obsidian, `RRULE:FREQ=DAILY`, []string{`column 1: found an RRULE; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: it belongs into recurrence.rrule, with its dialect: rfc5545, awx or dsari`}},
	{language.Obsidian, `DTSTART;TZID=UTC:20240101T000000 RRULE:FREQ=DAILY`, []string{`column 1: found an RRULE; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: it belongs into recurrence.rrule, with its dialect: rfc5545, awx or dsari`}},
	{language.Dsari, `FREQ=DAILY;INTERVAL=2`, []string{`column 1: found an RRULE; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a second; hint: it belongs into recurrence.rrule, with its dialect: rfc5545, awx or dsari`}},
	{language.Dsari, `RRULE:FREQ=DAILY`, []string{`column 1: found an RRULE; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a second; hint: it belongs into recurrence.rrule, with its dialect: rfc5545, awx or dsari`}},
	{language.Dsari, `0 0 L * *`, []string{`column 5, field 3 (day of month): "L" is not a day of the month; days of the month are 1-31; hint: L, W and # belong to the dialect obsidian`}},
	{language.Dsari, `0 0 * * 5#2`, []string{`column 9, field 5 (day of week): "5#2" is not a day of the week; days of the week are 0-7 (0 and 7 are Sunday) or SUN-SAT; hint: L, W and # belong to the dialect obsidian`}},
	{language.Dsari, `0 0 15W * *`, []string{`column 5, field 3 (day of month): "15W" is not a day of the month; days of the month are 1-31; hint: L, W and # belong to the dialect obsidian`}},
	{language.Dsari, `0 0 1 1 * 2025`, []string{`column 11, field 6 (second): 2025 is not in 0-59; hint: dsari has no year; its sixth field is the second. The dialect obsidian has years`}},
	{language.Dsari, `* * * * * * *`, []string{`column 13: 7 fields found; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a second; hint: dsari has neither year nor zone; the dialect obsidian has both`}},
	{language.Dsari, `0 0 * * *;0 1 * * *`, []string{`column 10: found ";", which dsari does not have; hint: the dialect obsidian unites patterns with semicolons; in dsari, make a job of each`}},
	{language.Dsari, `H,30 * * * *`, []string{`column 2, field 1 (minute): ",30" after H; hint: H must be alone in its field: H, H(0-7), H/15 or H(30-59)/10`}},
	{language.Dsari, `5,H * * * *`, []string{`column 3, field 1 (minute): "H" is not a minute; minutes are 0-59; hint: H and R must be alone in their field, without a list or a range: H, H(0-7), H/15`}},
	{language.Dsari, `H-5 * * * *`, []string{`column 2, field 1 (minute): "-5" after H; hint: H must be alone in its field: H, H(0-7), H/15 or H(30-59)/10`}},
	{language.Dsari, `h(a-b) * * * *`, []string{`column 3, field 1 (minute): "a-b" is not a range of two numbers; hint: for example H(0-7)`}},
	{language.Dsari, `h(0-7)x * * * *`, []string{`column 7, field 1 (minute): "x" after H; hint: H must be alone in its field: H, H(0-7), H/15 or H(30-59)/10`}},
	{language.Dsari, `H(1-) * * * *`, []string{`column 3, field 1 (minute): "1-" is not a range of two numbers; hint: for example H(0-7)`}},
	{language.Dsari, `H(0-60) * * * *`, []string{`column 5, field 1 (minute): 60 is not in 0-59; hint: the last minute of an hour is 59; every full hour is 0 * * * *`}},
	{language.Dsari, `H(5-5) * * * *`, []string{`column 3, field 1 (minute): the range 5-5 has nothing to choose from; its end must be greater than its start`}},
	{language.Dsari, `H/0 * * * *`, []string{`column 3, field 1 (minute): the step is 0; a step is at least 1`}},
	{language.Dsari, `H(0-7 * * * *`, []string{`column 2, field 1 (minute): "(0-7" after H; hint: H must be alone in its field: H, H(0-7), H/15 or H(30-59)/10`}},
	{language.Dsari, `H( * * * *`, []string{`column 2, field 1 (minute): "(" after H; hint: H must be alone in its field: H, H(0-7), H/15 or H(30-59)/10`}},
	{language.Dsari, `X X * * *`, []string{
		`column 1, field 1 (minute): "X" is not a minute; minutes are 0-59`,
		`column 3, field 2 (hour): "X" is not an hour; hours are 0-23`,
	}},
	{language.Dsari, `0 0 12 * * ?`, []string{`column 12, field 6 (second): "?" is not a second; seconds are 0-59; hint: this looks like a line of Quartz, whose first field is the second; here it is written "0 12 * * * 0"`}},
	{language.Dsari, `0 30 23 * * 1-5`, []string{`column 3, field 2 (hour): 30 is not in 0-23; hint: this looks like a line of Quartz, whose first field is the second; here it is written "30 23 * * 1-5 0"`}},
	{language.Dsari, `every 7 minutes`, []string{`column 1: found "every 7 minutes"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a second; hint: for example, 30 19 * * 5 is 19:30 on every Friday, and */15 9-17 * * 1-5 is every 15 minutes of a working day`}},
	{language.Dsari, `@recur 5 days`, []string{`column 1: "@recur" is not a shortcut; those are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly; hint: @recur belongs to the dialect obsidian`}},
	{language.Dsari, `@fortnightly`, []string{`column 1: "@fortnightly" is not a shortcut; those are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly; hint: the dialect obsidian has @recur 2 weeks`}},
	{language.Dsari, `0 9 * * 1-5 Europe/London`, []string{`column 13, field 6 (second): "Europe/London" is not a second; seconds are 0-59; hint: dsari has no zone in its lines; the job's timeZone is the zone of its schedule`}},
	{language.Dsari, `* * * * * 60`, []string{`column 11, field 6 (second): 60 is not in 0-59; hint: the last second of a minute is 59`}},
	{language.Obsidian, `@recur 7`, []string{`column 8: "@recur 7" is not complete; @recur is followed by a number, a unit and optionally a date and time (yyyy-MM-dd HH:mm); hint: for example, @recur 3 weeks`}},
	{language.Obsidian, `@recur 7days`, []string{`column 8: "@recur 7days" is not complete; @recur is followed by a number, a unit and optionally a date and time (yyyy-MM-dd HH:mm); hint: separate the two by a space: @recur 7 days`}},
	{language.Obsidian, `@recur`, []string{`column 1: "@recur" is not complete; @recur is followed by a number, a unit and optionally a date and time (yyyy-MM-dd HH:mm); hint: for example, @recur 3 weeks`}},
	{language.Obsidian, `@recur 0 min`, []string{`column 8, interval: the interval is 0; it is at least 1`}},
	{language.Obsidian, `@recur -1 day`, []string{`column 8, interval: "-1" is not a whole number from 1 on`}},
	{language.Obsidian, `@recur 1.5 h`, []string{`column 8, interval: "1.5" is not a whole number from 1 on`}},
	{language.Obsidian, `@recur 5 m`, []string{`column 10, unit: "m" is not a unit; those are min, minute, minutes; h, hour, hours; d, day, days; w, week, weeks; mon, month, months; hint: write min for minutes, mon for months`}},
	{language.Obsidian, `@recur 5 hrs`, []string{`column 10, unit: "hrs" is not a unit; those are min, minute, minutes; h, hour, hours; d, day, days; w, week, weeks; mon, month, months; hint: did you mean hours?`}},
	{language.Obsidian, `@recur 5 sec`, []string{`column 10, unit: "sec" is not a unit; those are min, minute, minutes; h, hour, hours; d, day, days; w, week, weeks; mon, month, months; hint: the shortest unit is the minute`}},
	{language.Obsidian, `@recur 5 years`, []string{`column 10, unit: "years" is not a unit; those are min, minute, minutes; h, hour, hours; d, day, days; w, week, weeks; mon, month, months; hint: 5 years are @recur 60 months`}},
	{language.Obsidian, `@recur 5 months 2015-02-30 02:00`, []string{`column 17, start: "2015-02-30 02:00" is not a date and time in the form yyyy-MM-dd HH:mm; hint: this date or time does not exist`}},
	{language.Obsidian, `@recur 5 months 2015-02-01 24:00`, []string{`column 17, start: "2015-02-01 24:00" is not a date and time in the form yyyy-MM-dd HH:mm; hint: midnight is 00:00, at the beginning of a day`}},
	{language.Obsidian, `@recur 5 months 2015-2-1 2:00`, []string{`column 17, start: "2015-2-1 2:00" is not a date and time in the form yyyy-MM-dd HH:mm; hint: for example, 2026-01-31 08:00`}},
	{language.Obsidian, `@recur 5 months 2015-02-01`, []string{`column 17, start: "2015-02-01" is not a date and time in the form yyyy-MM-dd HH:mm; hint: for example, 2026-01-31 08:00`}},
	{language.Obsidian, `@recur 5 months 2015-02-01T02:00`, []string{`column 17, start: "2015-02-01T02:00" is not a date and time in the form yyyy-MM-dd HH:mm; hint: separate date and time by a space; they are in the zone of the job`}},
	{language.Obsidian, `@recur 5 months 2015-02-01 02:00 UTC`, []string{`column 34: found "UTC" after the date and time; @recur is followed by a number, a unit and optionally a date and time (yyyy-MM-dd HH:mm)`}},
	{language.Obsidian, `@recur 5 days 0001-01-01 00:00`, []string{`column 15, start: "0001-01-01 00:00" is not a date and time in the form yyyy-MM-dd HH:mm; hint: its year is in 1900-2999`}},
	{language.Obsidian, `recur 5 days`, []string{`column 1: found "recur 5 days"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: write @recur 5 days`}},
	{language.Obsidian, `@recur 99999999999999999999 days`, []string{`column 8, interval: 99999999999999999999 is too large; at most 999999 days`}},
	{language.Obsidian, `@recur x y`, []string{
		`column 8, interval: "x" is not a whole number from 1 on`,
		`column 10, unit: "y" is not a unit; those are min, minute, minutes; h, hour, hours; d, day, days; w, week, weeks; mon, month, months`,
	}},
	{language.Obsidian, `0 0 15-L * *`, []string{`column 5, field 3 (day of month): "15-L": L must be alone or in a list, not in a range or before a step; hint: it is the last day of the month: 15,L`}},
	{language.Obsidian, `0 0 L/2 * *`, []string{`column 5, field 3 (day of month): "L/2": L must be alone or in a list, not in a range or before a step; hint: it is the last day of the month: 15,L`}},
	{language.Obsidian, `0 0 FRI * *`, []string{`column 5, field 3 (day of month): "FRI" is not a day of the month; days of the month are 1-31; hint: FRI is a day of the week; days of the week belong in field 5`}},
	{language.Obsidian, `0 0 1 1 * 2025 Europe/Londn`, []string{`column 16, field 7 (time zone): "Europe/Londn" is not a time zone; did you mean "Europe/London"?`}},
	{language.Obsidian, `0 0 * * FRY`, []string{`column 9, field 5 (day of week): "FRY" is not a day of the week; days of the week are 0-7 (0 and 7 are Sunday) or SUN-SAT; hint: did you mean FRI?`}},
	{language.Obsidian, `0 0 * FBE *`, []string{`column 7, field 4 (month): "FBE" is not a month; months are 1-12 or JAN-DEC; hint: did you mean FEB?`}},
	{language.Obsidian, `*/999999999999 * * * *`, []string{`column 3, field 1 (minute): the step 999999999999 is too large`}},
	{language.Obsidian, `0 0 * * 1-8`, []string{`column 11, field 5 (day of week): 8 is not in 0-7; hint: 0 and 7 are Sunday, 6 is Saturday`}},
	{language.Obsidian, `0 0 1-32 * *`, []string{`column 7, field 3 (day of month): 32 is not in 1-31`}},
	{language.Obsidian, `*-5 * * * *`, []string{`column 1, field 1 (minute): "*-5" is not a minute; minutes are 0-59; hint: * must be alone or before a step: */5 is every fifth value`}},
	{language.Obsidian, `   `, []string{`the expression is empty; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone`}},
	{language.Obsidian, `noon`, []string{`column 1: found "noon"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: every noon is 0 12 * * *`}},
	{language.Obsidian, `every hour`, []string{`column 1: found "every hour"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: every hour is 0 * * * *`}},
	{language.Obsidian, `every week`, []string{`column 1: found "every week"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: every week is 0 0 * * 1`}},
	{language.Obsidian, `every 3 months`, []string{`column 1: found "every 3 months"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: every 3 months is 0 0 1 */3 *`}},
	{language.Obsidian, `each 2 hours`, []string{`column 1: found "each 2 hours"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a year and a time zone; hint: every 2 hours is 0 */2 * * *`}},
	{language.Dsari, `every 7 hours`, []string{`column 1: found "every 7 hours"; a cron expression has 5 fields (minute hour day-of-month month day-of-week) and optionally a second; hint: for example, 30 19 * * 5 is 19:30 on every Friday, and */15 9-17 * * 1-5 is every 15 minutes of a working day`}},
	{language.Dsari, `@every 2 weeks`, []string{`column 1: "@every" is not a shortcut; those are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly; hint: for example, 30 19 * * 5 is 19:30 on every Friday, and */15 9-17 * * 1-5 is every 15 minutes of a working day`}},
	{language.Obsidian, `0，30 * * * *`, []string{`column 2, field 1 (minute): found the character '，' (U+FF0C); a field has ASCII characters only; hint: write an ASCII comma, ,`}},
	{language.Obsidian, `∗ * * * *`, []string{`column 1, field 1 (minute): found the character '∗' (U+2217); a field has ASCII characters only; hint: write an ASCII asterisk, *`}},
	{language.Obsidian, `* * * MÄR *`, []string{`column 8, field 4 (month): found the character 'Ä' (U+00C4); a field has ASCII characters only; hint: names are the English ones, JAN-DEC and SUN-SAT`}},
	{language.Obsidian, `𝟗 * * * *`, []string{`column 1, field 1 (minute): found the character '𝟗' (U+1D7D7); a field has ASCII characters only; hint: write it with the ASCII digit 9`}},
	{language.Obsidian, `1—5 * * * *`, []string{`column 2, field 1 (minute): found the character '—' (U+2014); a field has ASCII characters only; hint: write an ASCII hyphen, -`}},
	{language.Obsidian, `😀 * * * *`, []string{`column 1, field 1 (minute): found the character '😀' (U+1F600); a field has ASCII characters only`}},
}

func TestCronErrors(t *testing.T) {
	for _, row := range cronErrors {
		_, err := Parse(row.text, row.dialect)
		if err == nil {
			t.Errorf("%s %q is accepted", row.dialect, row.text)
			continue
		}
		checkErrors(t, row.text, err)
		if got, want := err.Error(), strings.Join(row.errors, "\n"); got != want {
			t.Errorf("%s %q:\ngot  %s\nwant %s", row.dialect, row.text, got, want)
		}
	}
}

// TestCronErrorsAreBounded checks that a text that is wrong in many places is not answered with a book.
func TestCronErrorsAreBounded(t *testing.T) {
	for _, text := range []string{strings.Repeat("x,", 500), strings.Repeat("9 99 99 99 99;", 70), strings.Repeat(";", 900)} {
		if _, err := Parse(text, language.Obsidian); err == nil || strings.Count(err.Error(), "\n") >= maxCronProblems {
			t.Errorf("%.20s…: %v", text, err)
		}
	}
	if _, err := Parse(strings.Repeat("* ", 5000), language.Obsidian); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
	if _, err := Parse("* * * * *", language.AWX); err == nil || !strings.Contains(err.Error(), "not a dialect of cron") {
		t.Error(err)
	}
}
