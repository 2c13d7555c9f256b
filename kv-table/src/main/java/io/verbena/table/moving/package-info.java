/**
 * The rules by which slots move between subtables: the freezing of slots, for splits, merges and operations alike, and
 * the merging of one group, which whoever needs the group completes. Must not know operations, scans or what drives a
 * restructuring.
 *
 * <p>One owner thread for each engine and everything it hands out; no locks.
 */
package io.verbena.table.moving;
