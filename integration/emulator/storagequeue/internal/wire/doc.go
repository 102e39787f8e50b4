// Package wire is the wire format of the queue service: its XML documents, errors and times. It knows neither
// storage nor authorization.
//
//  1. Readers accept any bytes and never panic. Depth and number of elements are limited; the caller limits the length.
//  2. A reader's error is an [Error], ready to send: a syntax error is InvalidXmlDocument with line and position, others
//     name the element.
//  3. A reader accepts everything that its writer produces.
package wire
