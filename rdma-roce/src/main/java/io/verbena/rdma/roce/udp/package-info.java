/**
 * UDP sockets for a RoCEv2 engine: system calls through the foreign function interface, many packets a call. Knows
 * packets and addresses, nothing of queue pairs. {@link io.verbena.rdma.roce.udp.UdpPort} is the entry.
 */
package io.verbena.rdma.roce.udp;
