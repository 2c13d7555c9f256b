/**
 * Measures a fabric as perftest does: one operation, posted and polled by one thread. Owns the loop and its figures;
 * must not know which provider is underneath.
 */
package io.verbena.rdma.conformance.perf;
