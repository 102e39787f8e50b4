// Package metrics shows Prometheus what a process does.
//
//  1. What is told beside an event (a record, a request, a spec, an audit) is
//     counted when that is over, by a counter that was found before: for a run
//     it takes less than a microsecond, in the goroutine that wrote its record.
//  2. Everything else is asked for when somebody scrapes, from state that is
//     there anyway. What the NATS server has to be asked for is asked once in
//     five seconds at most, and for two seconds at most.
//  3. Labels have few values, which this version knows: no name of a job or a
//     target is one; only the counter of late occurrences names collections. An action of a type that it does not know
//     counts as "other".
//  4. The rooms do not know this package: they offer functions to be observed by
//     (OnRecord, Observe) and to be asked (Stats, Load).
//
// The metrics are listed in the page "monitoring" of the documentation.
package metrics
