package main

// The operations that suites report on, in the order of the table.
var (
	serviceBus = []string{
		"send",                        // messages one after the other, received and completed
		"send while receiving",        // the same on a connection that also receives, as "send" else
		"batch",                       // several messages in one transfer
		"large message",               // near the limit of 1 MiB, so that a transfer has many frames
		"properties of every type",    // each AMQP type that the client has, there and back
		"bodies of every type",        // data, value and sequence
		"receive and delete",          // settled by the sender
		"complete",                    // under a lock
		"abandon",                     // the message comes back with a higher count
		"defer",                       // and receive by sequence numbers, several together
		"dead-letter",                 // with reason and description, received from the dead-letter queue
		"peek",                        // without a lock
		"schedule and cancel",         //
		"renew lock",                  // the message is still locked after the first lock's end
		"lose lock",                   // settling after the lock's end is refused
		"duplicate detection",         //
		"session by name",             // only its messages come, in order
		"next session",                // whichever is free
		"no next session",             // the client's error for none that is free
		"session state",               // written and read
		"renew session lock",          //
		"locked session",              // refused to a second receiver, with the right error
		"topic and subscription",      //
		"correlation rule",            // of the configuration, chooses messages
		"push",                        // the client's own loop with a handler
		"transaction",                 // committed and rolled back
		"send via",                    // a message that goes to another entity through a first
		"reconnect",                   // send and receive after the connection was cut
		"development emulator",        // the printed connection string, for AMQP without TLS
		"WebSocket",                   // AMQP over WebSocket
		"unknown entity",              // the client's error for it
		"wrong key",                   // the client's error for it
		"admin queues",                // create, get, update, list and delete
		"admin topics",                //
		"admin subscriptions",         //
		"admin rules",                 // SQL with an action, and correlation; read-then-update keeps them
		"admin rules with parameters", // of types dateTime, duration, guid, as the client has them
		"admin counts",                // messages by state
		"admin pages",                 // a list with more entities than a page
		"admin unknown entity",        // the client's error for it
		"REST send",                   // POST to the queue
		"REST receive",                // DELETE of the head, and peek-lock
	}
	// azureScheduler are the operations of Azure Scheduler's management clients.
	azureScheduler = []string{
		"create collections",     // with the statuses of new and known ones, and the casing of the service
		"patch collections",      //
		"list collections",       // of a resource group, and of a subscription
		"delete collections",     // a long-running operation, with its jobs
		"turn collections",       // disable and enable; the jobs keep their states
		"create jobs",            // with all that a recurrence, retries and an errorAction have
		"authentication of jobs", // returned without secrets
		"Service Bus jobs",       //
		"patch jobs",             // merged; immutable fields are refused
		"list jobs",              // by page, from an offset on, and by state
		"run jobs and history",   // newest first, by page, and by status
		"delete jobs",            //
		"quotas",                 // the client's error for a conflict
		"request ids",            //
		"unknown version",        // the client's error for it
		"every operation",        // that the client has was called by one of these
	}
	// natsEvents are events of NATS clients. Each event starts a run.
	natsEvents = []string{
		"event",                    // a message on carillon.event.<collection>.<name>, with headers
		"event twice",              // of one Nats-Msg-Id: stored once
		"CloudEvent, binary",       // attributes in ce- headers
		"CloudEvent, structured",   // JSON with the attributes
		"core subject of a source", // plain and both modes of CloudEvents, once each
		"stream of a source",       // the same, also messages that the stream had before
	}
	storageQueue = []string{
		"queues",             // create, list and delete
		"queue metadata",     //
		"put and get",        // with text of any alphabet
		"put one by one",     // messages one after the other
		"get several",        //
		"peek messages",      //
		"update",             // text and visibility; the older pop receipt is refused
		"delete",             //
		"clear",              //
		"visibility",         // a message returns after its timeout
		"time to live",       // a message that has expired does not come
		"access policy",      // stored ones
		"SAS",                // a client with a signature alone
		"service properties", //
		"unknown queue",      // the client's error for it
		"wrong account key",  // the client's error for it
	}
)
