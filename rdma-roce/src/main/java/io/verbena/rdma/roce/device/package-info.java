/**
 * The provider {@code roce}: devices that drive an engine over a UDP port of their own. Owns who drives when, waiting,
 * the memory of regions, and what the connection service has to know. Must not know headers of packets beyond those
 * that it sends to see whether a way is open.
 */
package io.verbena.rdma.roce.device;
