/**
 * The YCSB binding: how a YCSB record becomes one value, and YCSB's calls become operations of a table.
 * <p>
 * Owns the record format ({@code docs/format/ycsb-record.md}), the standard workloads' properties and what a write is
 * known to have done. Must not know who calls it (YCSB's own client or the demo) nor how the store works.
 */
package io.verbena.load.ycsb;
