// Package wire is what crosses the connection: the XML documents of the queue service, its errors and its times. It knows
// neither storage nor who may do what.
//
//  1. A reader takes any bytes and never panics. Depth and number of elements are bounded; the length is what the caller read.
//  2. An error of a reader is an [Error], ready to be answered: syntax is InvalidXmlDocument with line and position, the rest
//     names the element.
//  3. What a writer produced, the same reader takes again.
package wire
