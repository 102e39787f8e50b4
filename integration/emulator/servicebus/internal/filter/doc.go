// Package filter has the rules of subscriptions: filters that say which messages
// match, and actions that change them. Both are compiled once and used by many
// goroutines.
//
// # Guarantees
//
//  1. Any text is safe. Parsing never panics; expressions are at most
//     [MaxLength] bytes long and nest at most [MaxDepth] deep. An error says at
//     which byte, counted from 1, and what was expected.
//  2. Matching takes time in proportion to the expression and the message. LIKE
//     goes back to its last "%" only: at most text times pattern.
//  3. Matching does not allocate beyond what [Message] decodes once for all rules,
//     unless the expression puts strings together.
//
// # The language
//
//	predicate  = NOT predicate | predicate AND predicate | predicate OR predicate | "(" predicate ")"
//	           | expression ( "=" | "<>" | "!=" | ">" | ">=" | "<" | "<=" ) expression
//	           | expression IS [NOT] NULL
//	           | expression [NOT] IN "(" expression { "," expression } ")"
//	           | expression [NOT] LIKE expression [ESCAPE expression]
//	           | EXISTS "(" property ")"
//	expression = constant | property | parameter | function | "(" expression ")"
//	           | ( "+" | "-" ) expression | expression ( "+" | "-" | "*" | "/" | "%" ) expression
//	property   = [ ( "sys" | "user" ) "." ] word
//	constant   = 'text' | 12 | 0x1F | 1.5 | 1.5E3 | TRUE | FALSE | NULL
//	word       = letter { letter | digit | "_" } | "[" any "]" | `"` any `"`
//	parameter  = "@" word
//	function   = newid() | property("word") | p("word")
//	action     = statement { ";" statement }
//	statement  = SET property "=" expression | REMOVE property
//
// Keywords and names of system properties are the same in upper and lower case.
// A user property is looked for as it is written, then in any case. A property
// or constant of type boolean is a predicate as well.
//
// # Unknown
//
// A missing user property is unknown, as is NULL. Arithmetic and comparison with unknown are unknown; so is the
// comparison of incomparable values, such as text and number. NOT unknown is unknown; AND and OR have a result if one
// side decides. A message matches only if the result is true.
//
// Evaluation fails on a system property that Service Bus does not have, on a division of integers by zero, and on
// arithmetic with values that are not numbers. An option of the subscription then decides about the message.
package filter
