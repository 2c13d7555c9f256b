/**
 * Takes records away whose deadline has passed and that nobody asks for, so that their memory comes back; see {@code
 * docs/protocol/expiry.md}. Knows nothing of when a part of a table is due.
 *
 * <p>One owner thread for each engine and everything it hands out; no locks.
 */
package io.verbena.table.sweep;
