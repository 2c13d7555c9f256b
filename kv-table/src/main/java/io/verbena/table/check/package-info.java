/**
 * Checks a store for what must always be true, and repairs what a stopped process left behind: unfinished splits
 * and merges, blocks that no word names.
 *
 * <p>One owner thread for each engine and everything it hands out; no locks.
 */
package io.verbena.table.check;
