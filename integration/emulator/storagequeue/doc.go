// Package storagequeue is an emulator of Azure Queue Storage: the REST service that the Azure SDKs talk to, in this process and
// without anything installed.
//
//	server, err := storagequeue.Start(ctx, storagequeue.Config{Addr: "127.0.0.1:0"})
//	client, err := azqueue.NewServiceClientFromConnectionString(server.ConnectionString(), nil)
//
// # Guarantees
//
//  1. Every call of the service's REST interface of version 2026-04-06 is there, except for user delegation keys: the account's
//     settings with CORS, statistics of a secondary, queues with metadata and access policies, messages. Older versions are
//     answered in the same way.
//  2. Requests are authorized as the service does it: SharedKey, SharedKeyLite, signatures (SAS) of an account and of a queue
//     with stored access policies. With Keys: Lenient everybody may do everything.
//  3. An error has the service's status, code, header x-ms-error-code and XML body. Bodies begin without a byte order mark.
//  4. A message is delivered at least once. It is hidden from when it was taken until its visibility timeout is over, and gone when
//     it expires; only the newest pop receipt deletes or updates it. Messages come in the order in which they became visible.
//  5. With Config.Data everything survives a restart. What was answered is not lost when the process is killed; with Config.Sync it
//     is not lost either when the machine loses power. Damage to the files is an error of Start, except for a last write that
//     was cut off.
//  6. Requests are bounded in size and time. A client that stalls or sends garbage harms only its own connection.
//  7. After Close nothing is left running and the address is free.
//
// Statistics say that the secondary is in step, because it is the same data. Logging and metrics settings are kept and have no
// effect.
package storagequeue
