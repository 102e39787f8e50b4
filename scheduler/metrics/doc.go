// Package metrics exports the metrics of a process to Prometheus.
//
//  1. Event counters (records, requests, specs, consistency checks) are updated after the event, through counters that
//     are looked up in advance. For a run, this takes less than a microsecond in the goroutine that wrote its record.
//  2. All other metrics are read at scrape time from existing state. Requests to the NATS server are shared for five
//     seconds and time out after two.
//  3. Label cardinality is bounded: no label contains the name of a job or target, and only the counter of late
//     occurrences names collections. Actions of unknown types count as "other".
//  4. Other packages do not import this one: they offer callbacks (OnRecord, Observe) and getters (Stats, Load).
//
// The documentation's page "metrics" lists the metrics.
package metrics
