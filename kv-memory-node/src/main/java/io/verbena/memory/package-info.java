/**
 * The memory node: an agent that owns a registered region, leases chunks of it, and cuts off compute nodes whose lease
 * ended. Its CPU writes the superblock and nothing else in the region: words that clients change with RDMA atomics are
 * never touched from here. Knows nothing of how clients look up keys.
 */
package io.verbena.memory;
