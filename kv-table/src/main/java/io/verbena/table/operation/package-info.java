/**
 * Point operations on keys: state machines that are advanced by completions, the location cache, writers combined.
 * The argument why they are linearizable stands in {@code docs/protocol/point-operations.md}.
 *
 * <p>One owner thread for each engine and everything it hands out; no locks.
 */
package io.verbena.table.operation;
