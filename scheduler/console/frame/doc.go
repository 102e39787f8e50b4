// Package frame is the common part of all pages of the console: access control, the layout, scripts and styles, and
// live updates. Each [Section] of the console is a separate package, which provides routes and templates.
//
//	request ──► host, origin ──► route ──► caller, right ──► section ──► Call.Show: page in the layout
//	                                                              └─► Call.Live: event stream
//
// Guarantees:
//
//  1. Pages are written by html/template only, so their content is escaped for its context.
//  2. Pages load nothing from other servers and contain no inline scripts or styles. The Content-Security-Policy of each
//     answer makes browsers enforce that.
//  3. Changes are POST requests from a page of this origin ([http.CrossOriginProtection]). Requests for host names that are
//     not allowed are refused.
//  4. Authentication and access control are those of the APIs. After a sign-in, the browser stores the token in a cookie
//     that no script can read and no other site can send. The server has no sessions: the revocation of the token ends the
//     access, and all replicas accept the token.
//  5. Pages work without scripts. Scripts add live updates, search while typing, and keyboard shortcuts.
package frame
