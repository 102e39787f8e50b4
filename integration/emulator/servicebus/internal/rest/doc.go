// Package rest has the HTTP interface of Service Bus to send and receive messages: what the documents call its run-time REST API.
//
//	POST   /{queue|topic}/messages                       sends a message, or with the type of [batchType] several
//	DELETE /{queue|subscription}/messages/head           receives a message and deletes it
//	POST   /{queue|subscription}/messages/head           receives a message and locks it
//	DELETE /{queue|subscription}/messages/{id}/{lock}    completes a locked message; id is its own or its sequence number
//	PUT    /{queue|subscription}/messages/{id}/{lock}    unlocks it
//	POST   /{queue|subscription}/messages/{id}/{lock}    renews its lock
//
// The properties of a message that Service Bus knows are in the header BrokerProperties, as JSON, and its content type in
// Content-Type. Every other header is a property of the application: text stands in double quotes, numbers, true and false do not.
// The names keep the case in which clients spell them.
//
// A receiver waits up to the parameter timeout, in seconds, and 60 without it. Messages of sessions can be sent but not received,
// and dead letters are received at the path that they have for all clients: the interface of the service has no more.
package rest
