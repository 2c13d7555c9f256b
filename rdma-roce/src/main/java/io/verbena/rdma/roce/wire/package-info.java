/**
 * The packets of RoCEv2 as they travel inside UDP datagrams: one descriptor for each header of the InfiniBand transport
 * (specification, volume 1, chapter 9, and annex A17), the table of opcodes, and the invariant CRC. All big-endian
 * except the CRC. Knows nothing of queue pairs, memory or sockets. {@code docs/format/roce-packet.md} has the numbers.
 */
package io.verbena.rdma.roce.wire;
