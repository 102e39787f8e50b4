// Package frame is what all pages of the console have in common: the way in, the layout, the scripts and styles, and how
// live parts of a page come. The rooms of the console, each a package beside this one, hand it routes and templates.
//
// # Guarantees
//
//  1. A page is written by html/template alone, so whatever it shows is escaped for where it stands.
//  2. Nothing is loaded from elsewhere, and no script or style stands in a page: the policy that is sent with each answer
//     (Content-Security-Policy) lets a browser take neither.
//  3. What changes something is a POST, and one of a page of this origin ([http.CrossOriginProtection]). Hosts that are not
//     allowed are not answered.
//  4. Who asks is found out as by the APIs, and may do what they may do there. A browser keeps the token of a sign-in in a
//     cookie that no script sees and no other site sends. There is no session here: a token that is revoked ends it, and any
//     replica takes it.
//  5. A page can be read without scripts. They bring it up to date, search while somebody types, and take keys.
package frame
