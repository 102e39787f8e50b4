// Package batons moves and delivers batons: one durable message per enabled job. [Batons] is its only type. A lane is a
// stream with one consumer, and a job's name determines its lane.
//
// A waiting baton is a scheduled message (NATS ADR-51): at its delivery time the server moves it to its fire subject,
// where a durable consumer delivers it to one worker:
//
//	          due: the server publishes           Reschedule: publish next, then ack
//	timer ───────────────────────────────▶ fire ────────────────────────────────▶ timer
//	ScheduleAt                            Fire
//
// A subject holds one waiting baton, and publishing another one replaces it. Every transition is one message with a
// condition on the last sequence of a subject, so two writers cannot both succeed:
//
//	ScheduleAt  the timer subject is empty, or holds the baton to be replaced
//	Fire        the timer subject holds the baton that the fired one replaces
//	Reschedule  the running baton is still the last message of the fire subject
//
// A job also has one slot for each detached run and for each key of its trigger. A keyed baton waits in the slot of its
// key, where further events replace it (ScheduleAt). When it is due, a worker fires it again in the slot of its run, and
// so frees the key for later events.
package batons
