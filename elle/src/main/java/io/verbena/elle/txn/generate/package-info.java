/**
 * Histories of a simulated store of transactions, with faults of known kinds, for
 * tests and benchmarks of the checker.
 */
package io.verbena.elle.txn.generate;
