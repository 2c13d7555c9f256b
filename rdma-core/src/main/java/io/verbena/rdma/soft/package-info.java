/**
 * The {@code soft} provider: a software RNIC in user space. Devices of one fabric in one process reach each other by
 * shared memory: the requester performs READ, WRITE and atomics itself on the target's registered memory, the target's
 * CPU does nothing. Owns the fabric directory with its files. Knows nothing of what the bytes mean.
 */
package io.verbena.rdma.soft;
