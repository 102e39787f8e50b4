// Package tz wraps the time zone database: the names of zones, and their offsets from UTC.
//
// Guarantees: only exact names of the IANA database are zones, even if the host knows others, and an error suggests a
// name. [Zone.At] agrees with package time for every instant of the years 1 to 9999, in constant time and without
// allocation. A process compiles each zone once.
package tz
