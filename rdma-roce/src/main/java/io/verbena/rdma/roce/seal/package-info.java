/**
 * Encryption of the packets of one connection: keys, counters, replay and the layout of a sealed packet. Must not know
 * engines or queue pairs.
 */
package io.verbena.rdma.roce.seal;
