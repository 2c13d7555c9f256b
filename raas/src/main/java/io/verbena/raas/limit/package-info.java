/** What callers may not: limits of a context, how much of each is used, and what is thrown at one, and for misuse. */
package io.verbena.raas.limit;
