/**
 * Splits and merges of whole subtables, as described in {@code docs/protocol/growth.md}: formatting, freezing,
 * moving and publishing. Must not know point operations.
 *
 * <p>One owner thread for each engine and everything it hands out; no locks.
 */
package io.verbena.table.growth;
