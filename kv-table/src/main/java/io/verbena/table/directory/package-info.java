/**
 * Where the subtables of a table are: descriptors resolved, what was learned of splits and merges since, the links
 * to memory nodes, and the making of a new table. Must not know operations or how subtables are split.
 *
 * <p>One owner thread for each engine and everything it hands out; no locks.
 */
package io.verbena.table.directory;
