/**
 * When a record is absent because its deadline has passed, see {@code docs/protocol/expiry.md}: what a writer asks for,
 * and the one clock that is asked.
 */
package io.verbena.table.expiry;
