/**
 * Walks over the records of a table, a range of positions at a time, with cursors that neither splits nor merges
 * change.
 *
 * <p>One owner thread for each engine and everything it hands out; no locks.
 */
package io.verbena.table.scan;
