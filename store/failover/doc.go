// Package failover redelivers the messages of processes that have died.
//
// A baton or spec that a process has is a delivered message without an acknowledgement. A [Failover] renews the leases
// of the messages of its process. The server redelivers a message whose lease was not renewed for [AckWait], for
// example because the process hangs. If a process was killed or lost its connection, the others claim its messages
// within about three seconds. A Failover stores no data. In a single process, only AckWait applies.
//
// # Detection
//
// Processes that hold messages announce this every 500 ms to PREFIX.presence.all. The states of another process:
//
//	                            silent for 1 s
//	┌───────┐ holds  ┌───────┐ ────────────────▶ ┌───────┐ not connected, silent for 1.5 s  ┌──────────┐
//	│unknown│ ─────▶ │ heard │                   │ asked │ ───────────────────────────────▶ │ vanished │ ─▶ claim
//	└───────┘        └───────┘ ◀──────────────── └───────┘                                  └──────────┘
//	    ▲     rests      │      answers, or holds    │ │
//	    └────────────────┴───────────────────────────┘ └─▶ does not answer: connected, but slow; ask again
//
// A question is a request to PREFIX.presence.one.<id>. If the process is not connected, the server answers it. That
// proves that the process has lost its connection; silence proves nothing. In addition, a process claims after its own
// start, after a reconnect, and when it drops a lease that it doubts.
//
// # Claim
//
// A claim shortens the ack wait of a queue for less than a second. All live processes renew their leases before it, so
// the server redelivers only the messages of dead ones:
//
//	claiming process                          server                         every other process
//	  │ renew ───────────────────────────────────────────────────────────────▶ renews all leases,
//	  │ ◀───────────────────────────────────────────────────────────────────── replies with its number of messages
//	  │ every known holder has replied within 400 ms, and some queue has more messages delivered than are held
//	  │ ack wait 1.5 s ─────────────────────▶ redelivers the others
//	  │ 1 s after "renew"
//	  │ ack wait 10 s ──────────────────────▶
//	  │ done, with the ids of the replies ───────────────────────────────────▶ not among them: doubts its leases
//
// Other cases:
//
//	a known holder does not reply                      no short ack wait; the claim is repeated 500 ms later
//	two processes detect a death together              the process that receives the other's "renew" waits for 2 s
//	the claiming process stalls or dies in between     1.25 s after "renew", the others keep renewing theirs, so that
//	                                                   none is older than 1.5 s; after 3 s they set the ack wait to 10 s
//	a queue has no leader                              the other queues are claimed; this one is tried again 100 ms later
//	a process may not use the subjects                 no claims, because it would not renew its leases
//
// # Doubt
//
// A process that was suspended or disconnected long enough to be considered dead doubts its leases: another one may
// have its messages. [scheduler.Lease] then reports this before an action begins. A process leaves a server that is cut
// off from its cluster, and therefore stores nothing.
package failover
