/**
 * What a compute node does at one memory node beside operations: leases chunks for blocks, reclaims those of nodes that
 * ended and its own, and returns index chunks that nobody uses.
 */
package io.verbena.compute.maintenance;
