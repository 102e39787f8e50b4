// Package tz is the time zone database: the names of zones, and the offsets of their clocks from UTC.
//
// Guarantees: only exact names of the IANA database are zones, whatever else the host knows, and an error says which
// one was probably meant. [Zone.At] agrees with package time for every instant of the years 1 to 9999, in constant time
// and without allocation. A zone is compiled once in a process.
package tz
